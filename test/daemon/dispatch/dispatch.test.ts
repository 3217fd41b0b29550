import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { assembleServices } from "../../../src/daemon/assemble.ts";
import type { BaseServices } from "../../../src/daemon/base-services.ts";
import type { CallSink, DaemonContext } from "../../../src/daemon/dispatch/call-context.ts";
import { dispatch } from "../../../src/daemon/dispatch/dispatch.ts";
import { workerActor, type Actor } from "../../../src/daemon/permissions/actor.ts";
import { calls, type CallName, type CallParams, type CallResults } from "../../../src/protocol/calls/index.ts";
import type { CallTable } from "../../../src/protocol/calls/entry.ts";
import { processTable } from "../../../src/runtime/process/index.ts";
import { detectWrapperForm } from "../../../src/runtime/wrapper/script.ts";
import { statePaths } from "../../../src/state/paths.ts";
import { closeStore, openStore } from "../../../src/store/open.ts";
import { Writer } from "../../../src/store/writer.ts";

// A second transport: no socket and no frames, only a pair of functions in memory. Its actor is given, never guessed.

let folder: string;
let daemon: DaemonContext;
let stopDaemon: () => void;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perdure-dispatch-"));
  mkdirSync(join(folder, "state", "runs"), { recursive: true, mode: 0o700 });
  mkdirSync(join(folder, "project"));
  const paths = statePaths({ PERDURE_HOME: join(folder, "state") });
  const { db } = openStore(paths.database, { startEmpty: true });
  const base: Omit<BaseServices, "environments"> = {
    paths,
    db,
    writer: new Writer(db, { onCommit: () => undefined, onFailure: () => undefined }),
    processes: processTable(),
    host: "here",
    wrapper: detectWrapperForm,
    now: Date.now,
    monotonicMs: () => performance.now(),
    log: () => undefined,
    onStoreFailure: () => undefined,
    onCommit: () => () => undefined,
  };
  const services = assembleServices(base);
  daemon = { services, stopDaemon: () => expect.unreachable(), stats: () => expect.unreachable() };
  stopDaemon = () => {
    services.runs.stop();
    services.conversations.stop();
    base.writer.close();
    closeStore(db);
  };
});

afterEach(() => {
  stopDaemon();
  rmSync(folder, { recursive: true, force: true });
});

/** The memory transport's end of one call: the items of a stream in a list. */
class MemorySink implements CallSink {
  readonly items: unknown[] = [];
  readonly closed = new AbortController().signal;

  async send(item: unknown): Promise<void> {
    this.items.push(item);
  }

  holdWhileConnected(): void {}

  keepOpen(): void {}
}

async function call<N extends CallName>(actor: Actor, name: N, params: CallParams<N>): Promise<CallResults[N]> {
  return (await dispatch(daemon, actor, name, params, new MemorySink())) as CallResults[N];
}

const OPERATOR: Actor = { kind: "operator" };

function target(name: string): CallParams<"claim">["target"] {
  const root = join(folder, "project");
  return { project: null, name, here: { identity: root, root, base: "project" } };
}

/** Claims a name as a library does, and returns the agent that has its token. */
async function agentCalled(name: string): Promise<Actor> {
  const { token } = await call(OPERATOR, "claim", {
    target: target(name),
    kind: "client",
    token: name.repeat(32).slice(0, 32),
    pid: process.pid,
    command: null,
    cwd: null,
    environment: {},
    vendor: null,
    fresh: false,
    ephemeral: false,
  });
  return workerActor(daemon.services, token);
}

test("an agent is refused every call that is the operator's, whatever it sends with it", async () => {
  const agent = await agentCalled("coder");
  const operatorOnly = Object.entries(calls as CallTable).filter(([, { agentsMay }]) => agentsMay === false);
  expect(operatorOnly.length).toBeGreaterThan(15);
  for (const [name] of operatorOnly) {
    for (const params of [{}, { target: target("coder"), token: null, as: null }, null]) {
      const refused = dispatch(daemon, agent, name, params, new MemorySink());
      await expect(refused).rejects.toMatchObject({ code: "refused", message: expect.stringContaining(name) });
    }
  }
});

test("what is refused to an agent is carried out for the operator, over the same transport", async () => {
  const agent = await agentCalled("coder");
  const rename = { target: target("coder"), to: "writer" };
  await expect(call(agent, "rename", rename)).rejects.toMatchObject({ code: "refused" });
  expect(await call(OPERATOR, "rename", rename)).toMatchObject({ address: "project/writer" });
});

test("items of a stream go to the sink, and an unknown call is a mistake of the caller", async () => {
  await agentCalled("coder");
  const sink = new MemorySink();
  const { here } = target("coder");
  await dispatch(daemon, OPERATOR, "ls", { here, project: null, all: false }, sink);
  expect(sink.items).toMatchObject([{ address: "project/coder", name: "coder" }]);
  await expect(dispatch(daemon, OPERATOR, "toString", {}, sink)).rejects.toMatchObject({ code: "usage" });
});
