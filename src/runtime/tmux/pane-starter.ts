import { PANES_PER_WINDOW_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { isRefusal, type ControlClient } from "./control-client.ts";
import { listPanes, type Pane } from "./pane-list.ts";
import {
  nameGroupPane,
  makeGroupWindow,
  joinGroupWindow,
  newSessionCommands,
  newWindowCommands,
  respawnCommands,
  sessionName,
  type StartRequest,
} from "./start-commands.ts";

export interface StartedPane {
  pane: string;
  pid: number;
}

/** Where the first window of a session is; `base-index`, unless somebody changed it. */
const FIRST_WINDOW_INDEX = 1;

/** Somebody at the keyboard is not so fast as to take the place each time. */
const TRIES_MAX = 3;
const TARGET_CHANGED = /duplicate session|can't find (session|window|pane)|index \d+ in use/;

/** Starts processes in panes, many at once: only those of one worker or of one group wait for each other. */
export class PaneStarter {
  readonly #log: (line: string) => void;
  /** The last one in each line. */
  readonly #turns = new Map<string, Promise<unknown>>();
  /** Of each session with starts under way: how many, and the place of the next window. */
  readonly #startingSessions = new Map<string, { starts: number; next: number }>();
  #listing: Promise<Pane[]> | null = null;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  async start(client: ControlClient, request: StartRequest): Promise<StartedPane> {
    const { project, group, workerId } = request;
    const start = (): Promise<StartedPane> =>
      this.#exclusively(`worker ${workerId}`, () => this.#startWithRetries(client, request));
    return group === null ? start() : this.#exclusively(`group ${sessionName(project)} ${group}`, start);
  }

  /** The session, the pane or the place may go, or be taken, between looking and starting: then it is looked again. */
  async #startWithRetries(client: ControlClient, request: StartRequest): Promise<StartedPane> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#startInPane(client, request);
      } catch (error) {
        if (tries === TRIES_MAX || !isRefusal(error, TARGET_CHANGED)) throw error;
      }
    }
  }

  async #startInPane(client: ControlClient, request: StartRequest): Promise<StartedPane> {
    const panes = await this.#panes(client);
    const own = panes.filter(({ workerId }) => workerId === request.workerId);
    const living = own.find(({ dead }) => !dead);
    if (living?.run === request.run) return { pane: living.id, pid: living.pid };
    if (living) {
      throw new PerdureError("conflict", `${request.worker} still runs in pane ${living.id}, as ${living.run}.`, {
        details: { pane: living.id, pid: living.pid },
      });
    }
    const session = sessionName(request.project);
    const old = own.find((pane) => pane.session === session && pane.group === request.group);
    if (old) return parseStartedPane((await client.send(...respawnCommands(request, old.id))).at(-1));
    // What it left where it no longer belongs: another project's session, another group's window.
    for (const { id } of own) await client.send(["kill-pane", "-t", id]);
    return this.#startInNewWindow(client, request, panes);
  }

  async #startInNewWindow(client: ControlClient, request: StartRequest, panes: readonly Pane[]): Promise<StartedPane> {
    const session = sessionName(request.project);
    const indexes = panes.filter((pane) => pane.session === session).map((pane) => pane.windowIndex);
    const known = this.#startingSessions.get(session);
    const busy = known ?? { starts: 0, next: 0 };
    this.#startingSessions.set(session, busy);
    const index = Math.max(busy.next, FIRST_WINDOW_INDEX, ...indexes.map((place) => place + 1));
    busy.next = index + 1;
    busy.starts += 1;
    // Sent in this very turn: whoever comes next finds the session in the making, and need not wait for it.
    const isNew = known === undefined && indexes.length === 0;
    const answer = client.send(...(isNew ? newSessionCommands(request) : newWindowCommands(request, index)));
    try {
      const started = parseStartedPane((await answer)[0]);
      if (request.group !== null) await this.#joinGroupWindow(client, request, request.group, started.pane, panes);
      return started;
    } finally {
      busy.starts -= 1;
      if (busy.starts === 0) this.#startingSessions.delete(session);
    }
  }

  /** Into a window of its group that has room; else its own window becomes one more of the group. */
  async #joinGroupWindow(
    client: ControlClient,
    { project, worker }: StartRequest,
    group: string,
    pane: string,
    panes: readonly Pane[],
  ): Promise<void> {
    const session = sessionName(project);
    const groupPanes = panes.filter((each) => each.session === session && each.group === group);
    for (const window of Map.groupBy(groupPanes, (mate) => mate.window).values()) {
      const last = window.at(-1); // behind it, so that they stand in the order they came
      if (last === undefined || window.length >= PANES_PER_WINDOW_MAX) continue;
      try {
        await client.send(...nameGroupPane(worker, pane), ...joinGroupWindow(pane, last.id));
        return;
      } catch (error) {
        if (!isRefusal(error, /too small|no space|can't find/)) throw error;
        this.#log(`${pane} does not fit into the window of group ${group}: ${String(error)}`);
      }
    }
    await client.send(...nameGroupPane(worker, pane), ...makeGroupWindow(group, pane));
  }

  /** Those who ask before it is answered share one look; answers come in order, so it shows all that was done before. */
  async #panes(client: ControlClient): Promise<Pane[]> {
    this.#listing ??= listPanes(client).finally(() => (this.#listing = null));
    return this.#listing;
  }

  async #exclusively<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(key);
    const turn = before ? before.then(work, work) : work();
    this.#turns.set(key, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(key) === turn) this.#turns.delete(key);
    }
  }
}

function parseStartedPane(lines: readonly string[] | undefined): StartedPane {
  const [pane = "", pid] = (lines?.[0] ?? "").split(" ");
  if (!/^%\d+$/.test(pane))
    throw new PerdureError("internal", `tmux did not say where it started: ${JSON.stringify(lines)}.`);
  return { pane, pid: Number(pid) };
}
