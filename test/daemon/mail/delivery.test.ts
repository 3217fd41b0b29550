import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { MESSAGE_BYTES_MAX } from "../../../src/limits/index.ts";
import type { MessageRecord } from "../../../src/protocol/records/mail.ts";
import { mailHomes } from "./mail-home.ts";

const mailHome = mailHomes();

it("send to a stopped worker, the daemon killed after each of 20: all there, in order; a retry is a no-op", async () => {
  const mail = await mailHome("coder");
  for (let n = 0; n < 20; n++) {
    expect((await mail.home.perdure(["send", "coder", `message ${n}`, "--id", `id-${n}`])).code).toBe(0);
    await mail.killDaemon();
  }
  const numbers = Array.from({ length: 20 }, (_, n) => n);
  expect((await mail.peek("coder")).map(({ body }) => body)).toEqual(numbers.map((n) => `message ${n}`));

  const again = await mail.home.json<{ id: string; again: boolean; seq: number }>([
    "send",
    "coder",
    "message 7",
    "--id",
    "id-7",
  ]);
  expect(again).toMatchObject({ id: "id-7", again: true });
  expect(await mail.home.perdure(["send", "coder", "another text", "--id", "id-7"])).toMatchObject({ code: 4 });
  expect(await mail.peek("coder")).toHaveLength(20);
});

it("what a run was offered and did not acknowledge is offered to the next one, with the same id", async () => {
  const mail = await mailHome("coder");
  await mail.send("coder", "one", { id: "one" });
  const first = await mail.lease("coder");
  const receive = { nested: false, here: mail.here, project: null, max: 10, waitMs: 0 };
  const offered = await first.client.call("takeMail", { ...receive, as: first.as });
  expect(offered.messages).toMatchObject([{ id: "one", attempt: 1, state: "offered" }]);
  expect((await first.client.call("takeMail", { ...receive, as: first.as })).messages).toEqual([]);
  await first.client.call("release", first.as);

  const second = await mail.lease("coder");
  const once = await second.client.call("takeMail", { ...receive, as: second.as });
  expect(once.messages).toMatchObject([{ id: "one", attempt: 2 }]);
  await expect(
    first.client.call("ack", { as: first.as, nested: false, ids: ["one"], how: "read" }),
  ).rejects.toMatchObject({ code: "stale" });
  const acked = await second.client.call("ack", { as: second.as, nested: false, ids: ["one", "no-such"], how: "read" });
  expect(acked).toEqual({ acked: ["one"], missed: ["no-such"] });
  expect((await mail.stepsOf("one")).map(({ state, run }) => [state, run])).toEqual([
    ["queued", null],
    ["offered", first.as.run],
    ["queued", first.as.run],
    ["offered", second.as.run],
    ["read", second.as.run],
  ]);
});

it("a reader is woken by what comes in the very moment it looks", async () => {
  const mail = await mailHome("coder");
  const { client, as } = await mail.lease("coder");
  const receiving = client.call("takeMail", {
    nested: false,
    here: mail.here,
    project: null,
    max: 10,
    waitMs: 600_000,
    as,
  });
  const sending = client.call("send", mail.params("coder", "now"));
  await sending;
  expect((await receiving).messages).toMatchObject([{ body: "now" }]);
});

it("mail in an answer that never arrived comes again, before what was sent later", async () => {
  const mail = await mailHome("coder");
  for (const id of ["one", "two"]) await mail.send("coder", id, { id });
  const { client, as } = await mail.lease("coder");
  const receive = { as, nested: false, here: mail.here, project: null, max: 10, waitMs: 0 };
  const arrived = (await client.call("takeMail", { ...receive, max: 1 })).messages;
  expect(arrived).toMatchObject([{ id: "one", attempt: 1 }]);
  await client.call("takeMail", receive); // the answer with the second one is lost
  await mail.send("coder", "three", { id: "three" });
  const again = await client.call("takeMail", { ...receive, inHand: ["one"] });
  expect(again.messages).toMatchObject([
    { id: "two", attempt: 2 },
    { id: "three", attempt: 1 },
  ]);
  const acked = await client.call("ack", { as, nested: false, ids: ["one", "two", "three"], how: "read" });
  expect(acked.missed).toEqual([]);
});

it("what an inbox could not show comes again to its own run, before what was sent later", async () => {
  const mail = await mailHome("coder");
  await mail.send("coder", "first");
  const script = [`${mail.perdure} inbox > /dev/full`, `${mail.perdure} send coder second`, `${mail.perdure} inbox`];
  const { stdout } = await mail.runInside("coder", script.join("; "));
  expect(stdout).toMatch(/first[^]*second/);
});

it("a nested agent cannot call back or replace what its worker sent", async () => {
  const mail = await mailHome("coder", "planner");
  const { client, as } = await mail.lease("coder");
  await client.call("send", mail.params("planner", "mine", { as, id: "own" }));
  const nested = { as, nested: true };
  await expect(client.call("cancel", { ...nested, id: "own" })).rejects.toMatchObject({ code: "refused" });
  const instead = mail.params("planner", "instead", { ...nested, supersedes: "own" });
  await expect(client.call("send", instead)).rejects.toMatchObject({ code: "not-found" });
  await client.call("send", mail.params("planner", "its own", { ...nested, id: "nested" }));
  expect(await client.call("cancel", { ...nested, id: "nested" })).toMatchObject({ state: "cancelled" });
  expect((await mail.peek("planner")).map(({ body }) => body)).toEqual(["mine"]);
});

it("the operator looks into a worker's box and takes nothing", async () => {
  const mail = await mailHome("coder");
  await mail.send("coder", "for the coder");
  for (let n = 0; n < 3; n++) expect(await mail.peek("coder")).toMatchObject([{ state: "queued", attempt: 0 }]);
  const { stdout } = await mail.runInside("coder", `${mail.perdure} inbox --json`);
  expect((JSON.parse(stdout) as { messages: MessageRecord[] }).messages).toMatchObject([{ body: "for the coder" }]);
  expect(await mail.peek("coder")).toEqual([]);
});

it("what was given up after too many offers can be delivered again, and holds up nothing behind it", async () => {
  const mail = await mailHome("coder");
  for (const id of ["cursed", "behind"]) await mail.send("coder", id, { id });
  await mail.changeStore("UPDATE messages SET attempt = 100 WHERE id = 'cursed'");
  expect((await mail.runInside("coder", `${mail.perdure} inbox`)).stdout).toContain("behind");
  expect((await mail.stepsOf("cursed")).at(-1)).toMatchObject({ state: "dead" });
  expect((await mail.home.perdure(["mail", "cursed", "--redeliver"])).code).toBe(0);
  expect((await mail.runInside("coder", `${mail.perdure} inbox`)).stdout).toContain("cursed");
});

it("a later message stands for an earlier one, until that was read", async () => {
  const mail = await mailHome("coder");
  await mail.home.perdure(["send", "coder", "old plan", "--id", "plan-1"]);
  await mail.home.perdure(["send", "coder", "new plan", "--id", "plan-2", "--supersedes", "plan-1"]);
  expect((await mail.peek("coder")).map(({ body }) => body)).toEqual(["new plan"]);
  expect((await mail.stepsOf("plan-1")).at(-1)).toMatchObject({ state: "superseded" });
  await mail.runInside("coder", `${mail.perdure} inbox`);
  const late = await mail.home.perdure(["send", "coder", "newest plan", "--supersedes", "plan-2"]);
  expect(late).toMatchObject({ code: 4, stderr: expect.stringContaining("it is read") as string });
  expect(await mail.peek("coder")).toEqual([]);
});

it("files go along as they were when they were sent", async () => {
  const mail = await mailHome("coder");
  const file = join(mail.home.project, "plan.md");
  writeFileSync(file, "the plan");
  await mail.home.perdure(["send", "coder", "see the plan", "--attach", "plan.md"]);
  writeFileSync(file, "another plan");
  const [message] = await mail.peek("coder");
  expect(message?.attachments).toMatchObject([{ name: "plan.md", bytes: 8 }]);
  expect(readFileSync(message?.attachments[0]?.file ?? "", "utf8")).toBe("the plan");
  expect((await mail.home.perdure(["send", "coder", "x", "--attach", "none"])).code).toBe(3);
});

it("a second try with the same id changes no file of the first, whatever becomes of it", async () => {
  const mail = await mailHome("coder");
  const file = join(mail.home.project, "plan.md");
  writeFileSync(file, "the plan");
  const send = ["send", "coder", "see the plan", "--attach", "plan.md", "--id", "plan"];
  expect((await mail.home.perdure(send)).code).toBe(0);
  expect(await mail.home.json(send)).toMatchObject({ again: true });
  writeFileSync(file, "another plan");
  expect((await mail.home.perdure(send)).code).toBe(4);
  const [message] = await mail.peek("coder");
  expect(readFileSync(message?.attachments[0]?.file ?? "", "utf8")).toBe("the plan");
  expect(readdirSync(join(mail.home.state, "attachments"))).toHaveLength(1);
});

it("whoever started a worker is its supervisor, across restarts of either; a nested agent has none of its mail", async () => {
  const mail = await mailHome("boss");
  const { perdure } = mail;
  await mail.runInside(
    "boss",
    `env -u PERDURE_NAME ${perdure} run helper -- sh -c '${perdure} send supervisor "hi boss"'`,
  );
  expect((await mail.peek("boss")).map(({ from, body }) => [from, body])).toEqual([["api/helper", "hi boss"]]);
  await mail.runInside("boss", `${perdure} inbox`);
  await mail.killDaemon();
  await mail.home.perdure(["send", "helper", "x"]);
  const first = await mail.runInside("helper", `${perdure} send supervisor again`);
  expect(first.code).toBe(0);
  // Started by the operator this time: the operator is whom it answers to.
  expect((await mail.home.perdure(["inbox", "--peek"])).stdout).toContain("again");
});

it("long messages are handed out as many at a time as one answer carries", async () => {
  const mail = await mailHome("coder");
  const sent = Array.from({ length: 9 }, (_, n) => `long-${n}`);
  for (const id of sent) await mail.send("coder", "x".repeat(MESSAGE_BYTES_MAX), { id });
  const { client, as } = await mail.lease("coder");
  const received: string[] = [];
  while (received.length < sent.length) {
    const params = { as, nested: false, here: mail.here, project: null, max: 100, waitMs: 0 };
    const { messages } = await client.call("takeMail", params);
    expect(messages.map(({ attempt }) => attempt)).toEqual(messages.map(() => 1));
    expect(messages).not.toEqual([]);
    received.push(...messages.map(({ id }) => id));
  }
  expect(received).toEqual(sent);
});

it("a message that is refused takes no other one of the same commit with it", async () => {
  const mail = await mailHome("coder", "tester");
  const client = await mail.client();
  await mail.send("coder", "taken", { id: "taken" });
  await mail.send("tester", "elsewhere", { id: "elsewhere" });
  await mail.home.perdure(["cancel", "taken"]);
  const refused: [code: string, params: ReturnType<typeof mail.params>][] = [
    ["conflict", mail.params("coder", "another text", { id: "taken" })],
    ["not-found", mail.params("nobody", "x")],
    ["not-found", mail.params("coder", "x", { supersedes: "no-such" })],
    ["not-found", mail.params("coder", "x", { supersedes: "elsewhere" })],
    ["conflict", mail.params("coder", "x", { supersedes: "taken" })],
    ["usage", mail.params("coder", "é".repeat(MESSAGE_BYTES_MAX / 2 + 1))],
  ];
  const good = (at: number): Promise<unknown> =>
    client.call("send", mail.params("tester", "fine", { id: `fine-${at}` }));
  const outcomes = await Promise.allSettled(
    refused.flatMap(([, params], at) => [client.call("send", params), good(at)]),
  );
  const codes = outcomes.map((each) => (each.status === "fulfilled" ? "sent" : (each.reason as { code: string }).code));
  expect(codes).toEqual(refused.flatMap(([code]) => [code, "sent"]));
});

it("ls counts the questions that a worker has read and not answered", async () => {
  const mail = await mailHome("coder");
  const { client, as } = await mail.lease("coder");
  const counts = async (): Promise<object> => mail.home.until("coder", () => true);
  await mail.send("coder", "what now?", { id: "q", expectsReply: true });
  await mail.send("coder", "no answer needed", { id: "n" });
  expect(await counts()).toMatchObject({ unread: 2, unanswered: 0 });
  await client.call("takeMail", { as, nested: false, here: mail.here, project: null, max: 10, waitMs: 0 });
  await client.call("ack", { as, nested: false, ids: ["q", "n"], how: "read" });
  expect(await counts()).toMatchObject({ unread: 0, unanswered: 1 });
  expect((await mail.home.perdure(["ls"])).stdout).toContain("1 to answer");
  const reply = {
    as,
    nested: false,
    here: mail.here,
    project: null,
    id: "q",
    messageId: null,
    body: "this",
    attach: [],
  };
  await client.call("reply", reply);
  expect(await counts()).toMatchObject({ unread: 0, unanswered: 0 });
});
