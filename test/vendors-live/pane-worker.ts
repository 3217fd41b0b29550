import assert from "node:assert/strict";
import { join } from "node:path";
import type { PaneRecord } from "../../src/protocol/records/fleet.ts";
import { Pane, Tmux } from "../terminal/tmux.ts";
import { killMarked } from "./harness/marked-processes.ts";
import { Terminal } from "./harness/terminal.ts";
import type { LiveSetup } from "./setup.ts";
import { TerminalWorker } from "./terminal-worker.ts";

/** A worker that perdure itself has put into a pane. */
export class PaneWorker extends TerminalWorker {
  /** Forgets the pane at the end of the run: the next one may be in another. */
  gone(): void {
    this.terminal = null;
  }

  protected override async left(): Promise<void> {
    this.gone();
    return Promise.resolve();
  }

  protected override async start(): Promise<Terminal> {
    const { socket, pane } = await this.setup.home.json<PaneRecord>(["attach", this.name]);
    const tmux = Tmux.at(this.setup.home, socket);
    return Terminal.over(tmux, new Pane(tmux, pane), this.setup.vendor);
  }
}

/** SIGKILL to the daemon, to every process of every worker and to their terminals, all at once. */
export async function killEverything(setup: LiveSetup, workers: readonly PaneWorker[]): Promise<void> {
  const daemon = setup.home.daemonPid();
  assert.ok(daemon !== null, "the daemon runs");
  process.kill(daemon, "SIGKILL");
  await killMarked("PERDURE_SOCKET", join(setup.home.state, "perdure.sock"));
  setup.home.killTmux();
  for (const worker of workers) worker.gone();
}
