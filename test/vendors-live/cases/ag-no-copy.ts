import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { UpItem, UpResult } from "../../../src/protocol/records/fleet.ts";
import { until } from "../../terminal/tmux.ts";
import type { Case } from "../case.ts";
import { expectProved } from "../expect.ts";
import { writeFleet } from "../fleet-file.ts";
import { killEverything, PaneWorker } from "../pane-worker.ts";
import type { LiveSetup } from "../setup.ts";

const HELLO = "hello there";

export const noCopy: Case = {
  letter: "ag",
  title: "killed in its first run, without a copy: resumed all the same",
  modes: ["headless", "tui"],
  core: true,
  long: true,
  run: (setup) => (setup.mode === "tui" ? inFleet(setup) : alone(setup)),
};

async function alone(setup: LiveSetup): Promise<void> {
  const worker = setup.worker("w");
  await worker.open();
  const session = await worker.session();
  await setup.untilUnansweredIsWritten(session, "the first");
  await worker.kill({ andDaemon: true });
  // The daemon may be about to copy something.
  rmSync(join(setup.home.state, "custody"), { recursive: true, force: true, maxRetries: 10 });
  const { code, stdout, stderr } = await setup.perdure(["drill"]);
  assert.equal(code, 0, stdout + stderr);
  const request = await worker.say("at last");
  assert.equal(request.turns.at(-1), "at last");
  assert.equal(await expectProved(setup, worker, request), session);
  await until("a new copy", async () => ((await worker.detail()).conversation?.custody ? true : null));
}

async function inFleet(setup: LiveSetup): Promise<void> {
  writeFileSync(join(setup.home.project, "hello.md"), HELLO);
  writeFleet(setup, setup.home.project, ["one"], "hello.md");
  assert.equal((await up(setup, "--session", "friday")).started, 1);
  const worker = new PaneWorker(setup, "one", { said: HELLO });
  const session = await until("its conversation", async () => {
    const id = await worker.session();
    return id !== "none" && setup.hasWritten(id, "turns=1 first=hello") ? id : null;
  });
  await killEverything(setup, [worker]);
  // The daemon may be about to copy something.
  rmSync(join(setup.home.state, "custody"), { recursive: true, force: true, maxRetries: 10 });
  const again = await up(setup, "--resume", "friday");
  assert.deepEqual([again.started + again.running, again.refused], [1, 0], JSON.stringify(again.workers));
  const request = await worker.say("again");
  assert.deepEqual([...request.turns], [HELLO, "again"]);
  assert.equal(await expectProved(setup, worker, request), session);
  await setup.home.perdure(["down"]);
}

function up(setup: LiveSetup, ...words: string[]): Promise<UpResult & { workers: UpItem[] }> {
  return setup.home.json(["up", "--yes", ...words]);
}
