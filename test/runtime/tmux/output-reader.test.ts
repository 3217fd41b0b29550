import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TmuxServer } from "../../../src/runtime/tmux/server.ts";
import { until } from "../../terminal/tmux.ts";
import { TmuxFixture, sh } from "./tmux-fixture.ts";

const STARTS = 20;
/** More output than tmux has sent on when the program ends. */
const TALKS_AND_ENDS = sh("seq 1 20000; exit 1");
const TALKS_ON = sh("while :; do seq 1 2000; done");

let fixture: TmuxFixture;
let readers: ChildProcess[] = [];
beforeEach(() => {
  fixture = new TmuxFixture();
});
afterEach(async () => {
  for (const reader of readers) reader.kill("SIGKILL");
  readers = [];
  await fixture.clear();
});

/** Attaches as iTerm2 does: a control-mode client that gets the output of every pane of the session. */
async function attachReader(reading: "reads" | "stalls"): Promise<void> {
  const reader = spawn("tmux", ["-S", fixture.socket, "-C", "attach", "-t", "=api"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  readers.push(reader);
  await once(reader.stdout, "data");
  if (reading === "reads") reader.stdout.resume();
  else reader.stdout.pause();
}

async function ended(server: TmuxServer, run: string, serverPid: number): Promise<void> {
  await until(`the end of ${run}`, async () => {
    expect(fixture.serverPid()).toBe(serverPid); // without a server there is no end to wait for
    return (await server.panes()).some((pane) => pane.run === run && pane.dead) ? true : null;
  });
}

describe("B5: a control-mode client that reads the output of panes", () => {
  it.each(["reads", "stalls"] as const)(
    "B5: the server lives when a client %s and a worker starts again and again",
    async (reading) => {
      const server = fixture.server();
      const start = (run: string) => server.start(fixture.request("w", TALKS_AND_ENDS, { run }));
      await server.ensure();
      const pid = fixture.serverPid();
      await start("r0");
      await attachReader(reading);
      for (let n = 1; n <= STARTS; n += 1) {
        await ended(server, `r${n - 1}`, pid);
        await start(`r${n}`);
      }
      expect(fixture.serverPid()).toBe(pid);
    },
  );

  it("B5: the server lives when panes are removed while their output flows", async () => {
    const server = fixture.server();
    await server.start(fixture.request("mate", TALKS_ON, { group: "pair" }));
    const pid = fixture.serverPid();
    await Promise.all([attachReader("reads"), attachReader("stalls")]);
    for (let n = 1; n <= STARTS; n += 1) {
      const run = `r${n}`;
      const { pane } = await server.start(fixture.request("w", TALKS_ON, { run, group: "pair" }));
      await server.removePane(pane, run);
    }
    expect(fixture.serverPid()).toBe(pid);
  });
});
