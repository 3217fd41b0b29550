import type { PaneRecord } from "../../src/protocol/records/fleet.ts";
import { Pane, Tmux } from "../terminal/tmux.ts";
import { Terminal } from "./harness/terminal.ts";
import { TerminalWorker } from "./terminal-worker.ts";

/** A worker that perdure itself has put into a pane. */
export class PaneWorker extends TerminalWorker {
  /** Forgets the pane at the end of the run: the next one may be in another. */
  gone(): void {
    this.terminal = null;
  }

  protected override async start(): Promise<Terminal> {
    const { socket, pane } = await this.setup.home.json<PaneRecord>(["attach", this.name]);
    const tmux = Tmux.at(this.setup.home, socket);
    return Terminal.over(tmux, new Pane(tmux, pane), this.setup.vendor);
  }
}
