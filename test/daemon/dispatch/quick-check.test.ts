import { assert, constantFrom, dictionary, jsonValue, oneof, property } from "fast-check";
import { expect, test } from "vitest";
import { quickCheckOf } from "../../../src/daemon/dispatch/quick-check.ts";
import { calls } from "../../../src/protocol/calls/index.ts";
import { projectRefOf, sendParams } from "../../support/send-params.ts";

const HOME = { project: "/home/me/api" };
const SEND = sendParams(HOME, "coder", "hi", { id: "m1", ttlMs: 1000 });
const LEASE = { run: "host.api.coder.1", generation: 1, token: "t".repeat(43) };

/** Values that are right for some field, wrong for others, or wrong everywhere. */
const pieces = oneof(
  constantFrom(null, true, false, 0, 1, -1, 1.5, "", "a", "m1", "/x", "-x", "x".repeat(5000), [], ["coder"], [1], {}),
  constantFrom(projectRefOf(HOME), { ...projectRefOf(HOME), guessed: true }, { ...projectRefOf(HOME), more: 1 }, LEASE),
  jsonValue({ maxDepth: 1 }),
);

test("what the quick check accepts, the schema accepts and leaves as it is", () => {
  const check = quickCheckOf(calls.send.params);
  let accepted = 0;
  assert(
    property(dictionary(constantFrom(...Object.keys(SEND), "more", "__proto__"), pieces, { maxKeys: 2 }), (wrong) => {
      const params: unknown = JSON.parse(JSON.stringify({ ...SEND, as: LEASE, ...wrong }));
      const parsed = calls.send.params.safeParse(params);
      const isAccepted = check?.(params) === true;
      if (isAccepted) accepted++;
      expect({ params, isAccepted }).toEqual({
        params: parsed.success ? parsed.data : params,
        isAccepted: parsed.success,
      });
    }),
    { numRuns: 2_000 },
  );
  expect(accepted).toBeGreaterThan(100);
});

test("a field that is missing, unknown or inherited is left to the schema", () => {
  const check = quickCheckOf(calls.send.params);
  const { body, ...without } = SEND;
  expect(check?.(SEND)).toBe(true);
  expect(check?.(without)).toBe(false);
  expect(check?.({ ...SEND, more: 1 })).toBe(false);
  expect(check?.(Object.assign(Object.create({ body }) as object, without))).toBe(false);
  expect(check?.(JSON.parse(`${JSON.stringify(SEND).slice(0, -1)},"__proto__":1}`))).toBe(false);
});

test("the calls that are made most often have a quick check", () => {
  const quick = Object.entries(calls).filter(([, { params }]) => quickCheckOf(params) !== null);
  expect(quick.map(([name]) => name)).toEqual(expect.arrayContaining(["send", "takeMail", "ack", "ls", "peekMail"]));
});
