import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { connect, PerdureError, type Perdure } from "../../src/index.ts";
import { Home } from "../support/home.ts";

let home: Home;
let perdure: Perdure;
beforeAll(async () => {
  home = new Home();
  perdure = await connect({ env: home.env, cwd: home.project });
});
afterAll(async () => {
  await perdure.close();
  await home.clear();
});

async function refusal(start: Promise<unknown>): Promise<PerdureError> {
  const error = await start.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof PerdureError) return error;
  throw new Error(`no PerdureError: ${String(error)}`);
}

it("says why nothing was started, as `perdure run` would", async () => {
  const missing = await refusal(perdure.start("x", ["no-such-program"]));
  expect(missing.message).toContain("no-such-program");
  expect(missing.code).not.toBe("internal");
  expect(await refusal(perdure.start("x", [], { vendor: "nobody" }))).toMatchObject({
    message: expect.stringContaining("nobody"),
  });
  expect(await refusal(perdure.start("never-there"))).toMatchObject({ code: "usage" });
  expect((await refusal(perdure.start("x", ["true"], { cwd: join(home.dir, "gone") }))).code).toBe("not-found");
  const started = await perdure.start("taken", ["sleep", "600"]);
  const held = await refusal(perdure.start("taken", ["true"]));
  expect(held).toMatchObject({ code: "held", retryable: true, details: { run: started.run, pid: started.pid } });
  expect(held.next).toContainEqual({ verb: "takeover", args: ["api/taken"] });
});

it("starts a vendor's agent, resumes it, and begins anew", async () => {
  const conversationOf = async (run: string): Promise<string | null> => {
    await perdure.ended("agent", run);
    for await (const record of perdure.history("agent")) if (record.id === run) return record.sessionId;
    return null;
  };
  const first = await conversationOf((await perdure.start("agent", ["-p", "one"], { vendor: "scripted" })).run);
  const second = await conversationOf((await perdure.start("agent")).run);
  const third = await conversationOf((await perdure.start("agent", null, { fresh: true })).run);
  expect(second).toBe(first);
  expect(third).not.toBe(first);
});

it("starts a program that declares its words, and refuses words that the command line could not carry", async () => {
  writeFileSync(join(home.project, "own-agent"), '#!/bin/sh\necho "$@" >> said\n', { mode: 0o755 });
  const custom = { new: ["--id", "{id}"], resume: ["--continue", "{id}"] };
  for (const command of [["./own-agent"], null]) {
    const { run } = await perdure.start("own", command, command === null ? {} : { custom });
    await perdure.ended("own", run);
  }
  expect(readFileSync(join(home.project, "said"), "utf8")).toMatch(/^--id (\S+)\n--continue \1\n$/);
  const odd = { new: ["--id={id} x"], resume: ["{id}"] };
  expect(await refusal(perdure.start("odd", ["true"], { custom: odd }))).toMatchObject({ code: "usage" });
});

it("leaves the program neither the pipe nor its variable", async () => {
  const { run } = await perdure.start("clean", ["sh", "-c", "env > env; ls /proc/self/fd > fds"]);
  await perdure.ended("clean", run);
  expect(readFileSync(join(home.project, "env"), "utf8")).not.toContain("PERDURE_ERROR_FD");
  const { run: beside } = await perdure.start("beside", ["sh", "-c", "ls /proc/self/fd > fds"], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  await perdure.ended("beside", beside);
  const viaTerminal = await home.perdure(["run", "plain", "--", "sh", "-c", "ls /proc/self/fd > plain-fds"]);
  expect(viaTerminal.code).toBe(0);
  const [through, plain] = ["fds", "plain-fds"].map((file) => readFileSync(join(home.project, file), "utf8"));
  expect(through).toBe(plain);
});
