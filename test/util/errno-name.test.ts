import { expect, test } from "vitest";
import { asPerdureError } from "../../src/protocol/errors.ts";
import { isErrno } from "../../src/state/files.ts";

/** The error that Node throws for a write beyond a quota; it has no name for it. */
const quota = Object.assign(new Error("UNKNOWN: unknown error, write"), { code: "UNKNOWN", errno: -122 });

test("a used-up quota is known by its number", () => {
  expect(isErrno(quota, "ENOSPC", "EDQUOT")).toBe(true);
  expect(asPerdureError(quota)).toMatchObject({ code: "disk-full", hint: "free some of your quota and try again" });
});

test("another error without a name stays one", () => {
  const other = Object.assign(new Error("UNKNOWN: unknown error"), { code: "UNKNOWN", errno: -135 });
  expect(isErrno(other, "EDQUOT")).toBe(false);
  expect(asPerdureError(other)).toMatchObject({ code: "internal" });
  expect(isErrno(new Error("UNKNOWN"), "UNKNOWN")).toBe(false);
});
