import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fileNameOf } from "../../../src/protocol/foreign-id.ts";
import type { WorkerDetail } from "../../../src/protocol/records/worker.ts";
import { eventually } from "../../support/check.ts";
import { Home } from "../../support/home.ts";

// A program by the name of pi that does nothing: the test itself leaves what pi's extension would.

let home: Home;
beforeEach(() => {
  home = new Home();
  const bin = join(home.dir, "bin");
  const program = join(bin, "pi");
  mkdirSync(bin);
  writeFileSync(program, "#!/bin/sh\nexec sleep 1000\n");
  chmodSync(program, 0o755);
  home.env.PATH = `${bin}:${home.env.PATH}`;
});
afterEach(() => home.clear());

/** Starts a worker; returns the folder of its run. */
async function start(name: string, args: string[] = []): Promise<string> {
  const { worker } = await home.start(name, ["pi", ...args]);
  return join(home.state, "runs", fileNameOf(worker.run?.id ?? ""));
}

function statusIn(folder: string): unknown {
  const file = join(folder, "status.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null;
}

async function untilStatus(folder: string, wanted: object | null): Promise<void> {
  await eventually(`the status ${JSON.stringify(wanted)}`, () => {
    return JSON.stringify(statusIn(folder)) === JSON.stringify(wanted);
  });
}

let events = 0;

/** Leaves an event as the extension does, by a rename: the daemon removes a file that is no event, as one half written is. */
function report(folder: string, event: object): void {
  const name = `1.${++events}.p1`;
  writeFileSync(join(folder, `.${name}.tmp`), JSON.stringify(event));
  renameSync(join(folder, `.${name}.tmp`), join(folder, `event.${name}`));
}

async function show(name: string): Promise<WorkerDetail> {
  return home.json<WorkerDetail>(["show", name]);
}

test("the status line of a worker follows its mailbox, its name and the daemon", async () => {
  const folder = await start("coder");
  await untilStatus(folder, { address: "api/coder", unread: 0, unanswered: 0 });
  await home.perdure(["pause", "coder"]);
  await home.perdure(["send", "coder", "one", "--id", "m1", "--expects-reply"]);
  await home.perdure(["send", "coder", "two", "--id", "m2"]);
  await untilStatus(folder, { address: "api/coder", unread: 2, unanswered: 0 });
  await home.perdure(["cancel", "m2"]);
  await untilStatus(folder, { address: "api/coder", unread: 1, unanswered: 0 });
  await home.perdure(["rename", "coder", "writer"]);
  await untilStatus(folder, { address: "api/writer", unread: 1, unanswered: 0 });
  await home.perdure(["daemon", "stop"]);
  expect(statusIn(folder)).toBeNull();
  await home.perdure(["ls"]);
  await untilStatus(folder, { address: "api/writer", unread: 1, unanswered: 0 });
});

test("nobody is in front of a headless worker", async () => {
  const folder = await start("coder", ["-p", "go"]);
  await home.perdure(["send", "coder", "one"]);
  expect(existsSync(folder)).toBe(true);
  expect(statusIn(folder)).toBeNull();
});

test("what its user calls a conversation is on record, and changes no worker's name", async () => {
  const folder = await start("coder");
  const session_id = (await show("coder")).session?.id;
  const untilCalled = async (name: string | null): Promise<void> => {
    await eventually(`the name ${name}`, async () => (await show("coder")).conversation?.name === name);
  };
  report(folder, { event: "session_start", idle: true, session_id, name: "coder" });
  await untilCalled("coder");
  report(folder, { event: "session_info_changed", idle: true, session_id, name: "two words" });
  await untilCalled("two words");
  // Another conversation's name is not this one's, and an event that tells none changes nothing.
  report(folder, { event: "agent_start", idle: false, session_id });
  await home.until("coder", ({ state }) => state === "busy");
  expect(await show("coder")).toMatchObject({ address: "api/coder", session: { name: "two words" } });
  report(folder, { event: "session_start", idle: true, session_id: "another", name: "new one" });
  await home.until("coder", ({ session }) => session?.id === "another");
  await untilCalled("new one");
  report(folder, { event: "session_info_changed", idle: true, session_id: "another", name: null });
  await untilCalled(null);
  const { sessions } = await home.json<{ sessions: { id: string; name: string | null }[] }>(["history", "coder"]);
  expect(sessions.find(({ id }) => id === session_id)?.name).toBe("two words");
  // Two workers may be in conversations of one name, and no worker is kept from a name by it.
  expect(await home.perdure(["run", "two-words", "--", "true"])).toMatchObject({ code: 0 });
});
