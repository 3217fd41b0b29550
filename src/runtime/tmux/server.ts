import { CAPTURE_CHARS_MAX, PANE_HISTORY_LINES } from "../../limits/index.ts";
import type { Environment } from "../../util/environment.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { isRefusal, type ControlClient } from "./control-client.ts";
import type { Tmux } from "./find.ts";
import { CONTROL_SESSION, TmuxConnection } from "./connection.ts";
import { ALL_PANES, isEndUnknown, listPanes, parsePanes, type Pane } from "./pane-list.ts";
import { literal } from "./quote.ts";
import { checkStart, nameGroupPane, type StartRequest } from "./start-commands.ts";
import { PaneStarter, type StartedPane } from "./pane-starter.ts";
import { PaneWatch, type PaneEnd } from "./pane-watch.ts";

export interface TmuxServerOptions {
  /** Its own; short enough for the kernel. */
  socket: string;
  tmux: Tmux;
  environment: Environment;
  log: (line: string) => void;
}

/**
 * Our own tmux server, in whose panes a fleet's workers run: one session per project, one window per worker or group.
 * It outlives the daemon. Panes are known by marks that we put on them, never by what somebody called them.
 */
export class TmuxServer {
  readonly #connection: TmuxConnection;
  readonly #starter: PaneStarter;
  readonly #watch = new PaneWatch();
  readonly #log: (line: string) => void;

  constructor({ socket, tmux, environment, log }: TmuxServerOptions) {
    const watch = { format: ALL_PANES, changed: (value: string | null) => this.#onPanes(parsePanes(value ?? "")) };
    this.#connection = new TmuxConnection({ socket, file: tmux.file, environment, log, watch });
    this.#starter = new PaneStarter(log);
    this.#log = log;
  }

  /** Starts the server if none answers. Whatever needs it does that by itself. */
  async ensure(): Promise<void> {
    await this.#connection.ensure();
  }

  /** Starts a worker's process in its old pane, or in a new one. A second start of the same run finds the first. */
  async start(request: StartRequest): Promise<StartedPane> {
    checkStart(request);
    return this.#starter.start(await this.#connection.ensure(), request);
  }

  /** Every pane there is, ours or not; none if there is no server. */
  async panes(): Promise<Pane[]> {
    const client = await this.#connection.find();
    if (client === null) return [];
    return listPanes(client);
  }

  /** Whether nobody is in it but its keeper: no worker, and no window that a person has opened. */
  async isEmpty(): Promise<boolean> {
    return (await this.panes()).every(({ session }) => session === CONTROL_SESSION);
  }

  /**
   * The last lines of a pane as plain text, wrapped lines joined. With `run`, only if the pane is that run's: a new server
   * gives the old one's numbers again.
   */
  async capture(pane: string, { lines, run }: { lines: number; run?: string }): Promise<string> {
    const client = await this.#connection.find();
    if (client === null || (run !== undefined && !(await isPaneOfRun(client, pane, run)))) throw noPane(pane);
    const count = Math.max(1, Math.min(lines, PANE_HISTORY_LINES));
    try {
      const captured = await client.sendGuarded(["capture-pane", "-p", "-J", "-S", `-${count}`, "-t", pane]);
      return lastLines(captured, count);
    } catch (error) {
      throw isRefusal(error, /can't find pane/) ? noPane(pane) : error;
    }
  }

  /** With its process, if that lives. One that is gone already, or is another run's by now, is no error. */
  async removePane(pane: string, run?: string): Promise<void> {
    const client = await this.#connection.find();
    if (client === null || (run !== undefined && !(await isPaneOfRun(client, pane, run)))) return;
    await client.send(["kill-pane", "-t", pane]).catch((error: unknown) => {
      if (!isRefusal(error, /can't find pane/)) throw error;
    });
  }

  /** What people see a worker called from now on. */
  async rename(workerId: string, name: string): Promise<void> {
    const client = await this.#connection.find();
    if (client === null) return;
    const panes = await listPanes(client);
    const own = panes.filter((pane) => pane.workerId === workerId);
    const commands = own.flatMap(({ id, group }) =>
      group === null ? [["rename-window", "-t", id, "--", literal(name)]] : nameGroupPane(name, id),
    );
    if (commands.length > 0) await client.send(...commands);
  }

  /** Told within about a second, once the server was found or started; what had ended before is told then too. */
  onPaneDied(listener: (end: PaneEnd) => void): void {
    this.#watch.onDied(listener);
  }

  onTitle(listener: (pane: Pane, title: string) => void): void {
    this.#watch.onTitle(listener);
  }

  /** Ends the server with everything in it. */
  async kill(): Promise<void> {
    await this.#connection.kill();
  }

  /** Lets go of the server, which lives on with its workers. */
  close(): void {
    this.#connection.close();
  }

  #onPanes(panes: Pane[]): void {
    this.#watch.update(panes);
    // Looking makes tmux learn how it ended; that is then seen as a change.
    if (panes.some(isEndUnknown)) this.panes().catch((error: unknown) => this.#log(String(error)));
  }
}

/** Numbers are given once by one server, and one client talks to one server. */
async function isPaneOfRun(client: ControlClient, pane: string, run: string): Promise<boolean> {
  return (await listPanes(client)).some((each) => each.id === pane && each.run === run);
}

/** A joined line keeps the blanks that filled it up, and an ended pane's note stands at the bottom of an empty screen. */
function lastLines(captured: string[], count: number): string {
  const lines = captured.map((line) => line.trimEnd());
  const kept = lines.filter((line, index) => line !== "" || (index > 0 && lines[index - 1] !== ""));
  return kept.join("\n").trimEnd().split("\n").slice(-count).join("\n").slice(-CAPTURE_CHARS_MAX);
}

function noPane(pane: string): PerdureError {
  return new PerdureError("not-found", `There is no pane ${pane} in the fleet's tmux server.`);
}
