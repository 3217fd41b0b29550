import { on } from "node:events";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import type { WorkerSummary } from "../../../src/protocol/records/worker.ts";
import { eventually } from "../../support/check.ts";
import { BIN, Home } from "../../support/home.ts";
import { withTmux } from "../../terminal/hooks.ts";
import { CLEAN, type Tmux } from "../../terminal/tmux.ts";

const home = new Home();
let tmux: Tmux;

withTmux(home, (started) => (tmux = started));

test("into a pipe, ls --watch is one document a line, one at every change", async () => {
  const watching = home.spawn(["ls", "--watch"]);
  const seen: string[] = [];
  for await (const [line] of on(createInterface({ input: watching.stdout! }), "line") as AsyncIterable<[string]>) {
    const { schemaVersion, workers } = JSON.parse(line) as { schemaVersion: number; workers: WorkerSummary[] };
    expect(schemaVersion).toBe(1);
    expect(line).not.toBe(seen.at(-1));
    seen.push(line);
    if (seen.length === 1) home.spawn(["run", "piped", "--", "sh", "-c", "exit 3"]);
    if (workers.some(({ lastEnd }) => lastEnd?.exit === 3)) break;
  }
  expect(seen[0]).toBe('{"schemaVersion":1,"workers":[]}');
  watching.kill("SIGTERM");
});

test("on a terminal ls --watch is painted in place, follows, survives the daemon, and leaves the terminal as it was", async () => {
  const pane = await tmux.pane(["sh"]);
  await pane.line(`PS1='ready> '; echo bef''ore; ${BIN} ls -w; echo left=$?`);
  await pane.shows(/q quit/);
  expect(await pane.modes()).toMatchObject({ alternate: true, cursor: false });
  const { child } = await home.start("coder", ["sleep", "600"]);
  await pane.shows(/coder +● running/);

  child.kill("SIGTERM");
  await pane.shows(/coder +○ stopped .*SIGTERM, \d+s ago/);
  await home.perdure(["daemon", "stop"]);
  await pane.shows(/The daemon has exited: this is how it was/);
  // No key takes that away: the list would look as if it were current.
  await pane.keys("n");
  await pane.shows(/Nobody needs you/);
  await pane.keys("Up");
  await pane.shows(/The daemon has exited: this is how it was/);
  await home.perdure(["run", "other", "--", "true"]);
  await pane.shows(/other +○ stopped .*exited 0, \d+s ago *\n(?!.*The daemon has exited)/);

  // Nobody has asked a killed one to leave, and nothing is supervised without it.
  const killed = home.daemonPid() ?? 0;
  process.kill(killed, "SIGKILL");
  await eventually("another daemon", () => ![killed, null].includes(home.daemonPid()));
  await pane.shows(/other +○ stopped .*ago *\n[^]*q quit/);

  await pane.resize(24, 24);
  await pane.shows(/coder +○ +SIGTERM.*… *\n/);
  await pane.keys("C-c");
  await pane.shows(/before\n+left=130\nready>/);
  expect(await pane.modes()).toEqual(CLEAN);
});
