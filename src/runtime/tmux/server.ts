import { CAPTURE_CHARS_MAX, PANE_HISTORY_LINES } from "../../limits/index.ts";
import type { Environment } from "../../util/environment.ts";
import { PerdureError } from "../../protocol/errors.ts";
import type { ProcessTable } from "../process/index.ts";
import { isRefusal, type ControlClient } from "./control-client.ts";
import { listClients, ringBell, type AttachedClient } from "./clients.ts";
import type { Tmux } from "./find.ts";
import { TmuxConnection } from "./connection.ts";
import { CONTROL_SESSION } from "./views.ts";
import { ALL_PANES, listPanes, parsePanes, type Pane } from "./pane-list.ts";
import { pasteTexts, pressEnter, viewPane, type PaneView } from "./paste.ts";
import { literal } from "./quote.ts";
import { borderCommands, checkStart, nameGroupPane, SAYS_OPTION, type StartRequest } from "./start-commands.ts";
import { PaneStarter, type StartedPane } from "./pane-starter.ts";

export interface TmuxServerOptions {
  /** The socket of this server, short enough for the kernel. */
  socket: string;
  tmux: Tmux;
  environment: Environment;
  log: (line: string) => void;
  /** The user's own file of tmux commands, read after our options; null for none. */
  userFile?: () => string | null;
  /** The processes that can be seen from here: the server's are among them, unless another container started it. */
  processes: Pick<ProcessTable, "namespace" | "inspect">;
}

/**
 * Our own tmux server, in whose panes a fleet's workers run: one session per project, one window per worker or group. The
 * server outlives the daemon. Panes are recognised by marks that we put on them, never by their names.
 */
export class TmuxServer {
  readonly #connection: TmuxConnection;
  readonly #starter: PaneStarter;
  readonly #titleListeners: ((pane: Pane, title: string) => void)[] = [];
  readonly #paneListeners: ((panes: readonly Pane[]) => void)[] = [];
  #titles = new Map<string, string>();
  /** The mark that each worker is to have, and the one that each pane shows, by pane and run. */
  readonly #marks = new Map<string, PaneMark>();
  readonly #shown = new Map<string, string>();

  constructor({ socket, tmux, environment, log, processes, userFile = () => null }: TmuxServerOptions) {
    const watch = { format: ALL_PANES, changed: (value: string | null) => this.#onPanes(value, log) };
    this.#connection = new TmuxConnection({ socket, file: tmux.file, environment, log, watch, processes, userFile });
    this.#starter = new PaneStarter(log);
  }

  /** Starts the server if none answers; methods that need one do the same. */
  async ensure(): Promise<void> {
    await this.#connection.ensure();
  }

  /** Starts a worker's process in the place of its old pane, or in a window of its own. A second start of the same run finds the first. */
  async start(request: StartRequest): Promise<StartedPane> {
    checkStart(request);
    return this.#starter.start(await this.#connection.ensure(), request);
  }

  /** Lists every pane, ours or not; none if there is no server. */
  async panes(): Promise<Pane[]> {
    const client = await this.#connection.find();
    if (client === null) return [];
    return listPanes(client);
  }

  /** Whether the server has only its control session: no worker, and no window that a person opened. */
  async isEmpty(): Promise<boolean> {
    return (await this.panes()).every(({ session }) => session === CONTROL_SESSION);
  }

  /**
   * Returns the last lines of a pane as plain text, with wrapped lines joined. With `run`, the pane must belong to that
   * run: a new server gives the old one's numbers again.
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

  /** Looks at the pane of a run; null when the run has none. */
  async view(run: string): Promise<PaneView | null> {
    return this.#inPaneOf(run, viewPane);
  }

  /** Pastes texts into the pane of a run, each in one bracketed frame, as a paste of this name; false when the run has none. */
  async paste(run: string, texts: readonly string[], name: string): Promise<boolean> {
    const paste = (client: ControlClient, pane: string): Promise<true> =>
      pasteTexts(client, pane, texts, name).then(() => true);
    return (await this.#inPaneOf(run, paste)) ?? false;
  }

  /** Presses Enter in the pane of a run; false when the run has none. */
  async pressEnter(run: string): Promise<boolean> {
    return (await this.#inPaneOf(run, (client, pane) => pressEnter(client, pane).then(() => true))) ?? false;
  }

  async #inPaneOf<T>(run: string, act: (client: ControlClient, pane: string) => Promise<T>): Promise<T | null> {
    const client = await this.#connection.find();
    const pane = client && (await listPanes(client)).find((each) => each.run === run && !each.dead);
    return client && pane ? act(client, pane.id) : null;
  }

  /** Removes a pane with its process. A pane that is gone, or belongs to another run by now, is no error. */
  async removePane(pane: string, run?: string): Promise<void> {
    const client = await this.#connection.find();
    if (client === null || (run !== undefined && !(await isPaneOfRun(client, pane, run)))) return;
    await client.send(["kill-pane", "-t", pane]).catch((error: unknown) => {
      if (!isRefusal(error, /can't find pane/)) throw error;
    });
  }

  /** Changes the name of a worker in its pane or window. */
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

  /** Shows in the line of windows, and in the list of workers, what workers do and which of them need somebody. */
  async mark(marks: ReadonlyMap<string, PaneMark>): Promise<void> {
    for (const [workerId, mark] of marks) this.#marks.set(workerId, mark);
    const client = await this.#connection.find();
    if (client !== null) await this.#showMarks(client, await listPanes(client));
  }

  /** Sets the marks of panes that do not show them yet: a pane may come later than what is known of its worker. */
  async #showMarks(client: ControlClient, panes: readonly Pane[]): Promise<void> {
    const keys = new Set(panes.map(({ id, run }) => `${id} ${run}`));
    for (const key of this.#shown.keys()) if (!keys.has(key)) this.#shown.delete(key);
    const marking = panes.map(async ({ id, workerId, run, group }) => {
      const mark = workerId === null ? undefined : this.#marks.get(workerId);
      const [key, text] = [`${id} ${run}`, JSON.stringify(mark)];
      if (mark === undefined || this.#shown.get(key) === text) return;
      const said = (JSON.parse(this.#shown.get(key) ?? "{}") as Partial<PaneMark>).says ?? "";
      this.#shown.set(key, text);
      const border = group === null ? borderCommands(id, mark.says, said) : [];
      await client.send(...markPane(id, mark), ...border).catch((error: unknown) => {
        this.#shown.delete(key);
        if (!isRefusal(error, /can't find pane|no such pane/)) throw error; // a pane that was removed meanwhile
      });
    });
    await Promise.all(marking);
  }

  /** Lists the terminals that are attached to the server, with the panes they show; none where another container started it. */
  async clients(): Promise<{ clients: AttachedClient[]; panes: Pane[] }> {
    const client = await this.#connection.find();
    if (client === null || client.serverElsewhere !== null) return { clients: [], panes: [] };
    const [clients, panes] = await Promise.all([listClients(client), listPanes(client)]);
    return { clients, panes };
  }

  /** Rings the bell of every attached terminal; returns how many rang. */
  async ring(): Promise<number> {
    const { clients } = await this.clients();
    return clients.filter((client) => ringBell(client)).length;
  }

  /** Told of each title of a worker's pane within about a second, once the server was found or started. */
  onTitle(listener: (pane: Pane, title: string) => void): void {
    this.#titleListeners.push(listener);
  }

  /** Told of all panes of workers within about a second of each change. */
  onPanes(listener: (panes: readonly Pane[]) => void): void {
    this.#paneListeners.push(listener);
  }

  /** Makes the server read the user's own file of tmux commands again, if it was changed since; returns what is wrong with it. */
  async readChangedUserFile(): Promise<string | null> {
    return this.#connection.readChangedUserFile();
  }

  /** Kills the server with everything in it. */
  async kill(): Promise<void> {
    await this.#connection.kill();
  }

  /** Disconnects from the server, which keeps running with its workers. */
  close(): void {
    this.#connection.close();
  }

  /** Compares the titles with those seen before. Panes of nobody we know are nobody's news. */
  #onPanes(value: string | null, log: (line: string) => void): void {
    const panes = parsePanes(value ?? "");
    if (value === null) this.#shown.clear();
    else this.#remark(panes).catch((error: unknown) => log(`marks: ${String(error)}`));
    const before = this.#titles;
    const ours = panes.filter((pane) => pane.workerId !== null);
    for (const listener of this.#paneListeners) listener(ours);
    this.#titles = new Map(ours.map(({ id, title }) => [id, title]));
    for (const pane of ours) {
      if (pane.title === (before.get(pane.id) ?? "")) continue;
      for (const listener of this.#titleListeners) listener(pane, pane.title);
    }
  }

  async #remark(panes: readonly Pane[]): Promise<void> {
    const client = this.#marks.size === 0 ? null : await this.#connection.find();
    if (client !== null) await this.#showMarks(client, panes);
  }
}

/** The state of a worker as the line of windows and the list of workers show it. */
export interface PaneMark {
  state: string;
  needsSomebody: boolean;
  /** The words below the last screen of a worker that has ended; empty for nothing. */
  says: string;
}

function markPane(pane: string, { state, needsSomebody, says }: PaneMark): string[][] {
  return [
    ["set-option", "-p", "-q", "-t", pane, SAYS_OPTION, literal(says)],
    ["set-option", "-p", "-q", "-t", pane, "@perdure_state", state],
    ["set-option", "-p", "-q", "-t", pane, "@perdure_needs", needsSomebody ? "!" : ""],
  ];
}

/** Tells whether the pane belongs to the run: a server gives a number once, and a client talks to one server. */
async function isPaneOfRun(client: ControlClient, pane: string, run: string): Promise<boolean> {
  return (await listPanes(client)).some((each) => each.id === pane && each.run === run);
}

/** Trims the blanks of joined lines, and the empty lines above the note at the bottom of an ended pane. */
function lastLines(captured: string[], count: number): string {
  const lines = captured.map((line) => line.trimEnd());
  const kept = lines.filter((line, index) => line !== "" || (index > 0 && lines[index - 1] !== ""));
  return kept.join("\n").trimEnd().split("\n").slice(-count).join("\n").slice(-CAPTURE_CHARS_MAX);
}

function noPane(pane: string): PerdureError {
  return new PerdureError("not-found", `There is no pane ${pane} in the fleet's tmux server.`);
}
