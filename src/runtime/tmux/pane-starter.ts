import { PANES_PER_WINDOW_MAX, PANE_TARGET_TRIES } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { KeyedMutex } from "../../util/semaphore.ts";
import { isRefusal, type ControlClient } from "./control-client.ts";
import { listPanes, type Pane } from "./pane-list.ts";
import {
  nameGroupPane,
  makeGroupWindow,
  joinGroupWindow,
  FIRST_WINDOW_INDEX,
  newSessionCommands,
  newWindowCommands,
  replacePaneCommands,
  tmuxSessionName,
  type StartRequest,
} from "./start-commands.ts";

export interface StartedPane {
  pane: string;
  pid: number;
}

const TARGET_CHANGED = /duplicate session|can't find (session|window|pane)|index \d+ in use/;

/** Starts processes in panes, many at once; only starts of one worker or one group wait for each other. */
export class PaneStarter {
  readonly #log: (line: string) => void;
  readonly #turns = new KeyedMutex();
  /** The number of starts under way in each session, and the index of the next window. */
  readonly #startingSessions = new Map<string, { starts: number; given: Set<number> }>();
  #listing: Promise<Pane[]> | null = null;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  async start(client: ControlClient, request: StartRequest): Promise<StartedPane> {
    const { project, group, workerId } = request;
    const start = (): Promise<StartedPane> =>
      this.#turns.run(`worker ${workerId}`, () => this.#startWithRetries(client, request));
    return group === null ? start() : this.#turns.run(`group ${tmuxSessionName(project)} ${group}`, start);
  }

  /** Retries when the session, the pane or the index was removed or taken between listing and starting. */
  async #startWithRetries(client: ControlClient, request: StartRequest): Promise<StartedPane> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#startInPane(client, request);
      } catch (error) {
        if (tries === PANE_TARGET_TRIES || !isRefusal(error, TARGET_CHANGED)) throw error;
      }
    }
  }

  async #startInPane(client: ControlClient, request: StartRequest): Promise<StartedPane> {
    const panes = await this.#panes(client);
    const own = panes.filter(({ workerId }) => workerId === request.workerId);
    const live = own.find(({ dead }) => !dead);
    if (live?.run === request.run) return { pane: live.id, pid: live.pid };
    if (live) {
      throw new PerdureError("conflict", `${request.worker} is still running in pane ${live.id}, as ${live.run}.`, {
        details: { pane: live.id, pid: live.pid },
      });
    }
    const session = tmuxSessionName(request.project);
    const old = own.find((pane) => pane.session === session && pane.group === request.group);
    if (old) return this.#replacePane(client, request, old, panes);
    // Old panes in another project's session or another group's window do not belong to the worker any more.
    for (const { id } of own) await client.send(["kill-pane", "-t", id]);
    return this.#startInNewWindow(client, request, panes);
  }

  async #replacePane(
    client: ControlClient,
    request: StartRequest,
    { id, session }: Pane,
    panes: readonly Pane[],
  ): Promise<StartedPane> {
    const options = await localOptions(client, id);
    return this.#atFreeIndex(session, panes, undefined, async (index) => {
      const [started] = await client.send(...replacePaneCommands(request, { pane: id, options }, index));
      return parseStartedPane(started);
    });
  }

  async #startInNewWindow(client: ControlClient, request: StartRequest, panes: readonly Pane[]): Promise<StartedPane> {
    const session = tmuxSessionName(request.project);
    // The next start of a session that is being made need not wait for it: commands are carried out in order.
    const isNew = !this.#startingSessions.has(session) && panes.every((pane) => pane.session !== session);
    return this.#atFreeIndex(session, panes, request.window, async (index) => {
      const commands = isNew ? newSessionCommands(request, index) : newWindowCommands(request, index);
      const started = parseStartedPane((await client.send(...commands))[0]);
      if (request.group !== null) await this.#joinGroupWindow(client, request, request.group, started.pane, panes);
      return started;
    });
  }

  /** Runs a start with its own index, if no window has it and no other start under way was given it; else with one behind all. */
  async #atFreeIndex(
    session: string,
    panes: readonly Pane[],
    wanted: StartRequest["window"],
    start: (index: number) => Promise<StartedPane>,
  ): Promise<StartedPane> {
    const indexes = panes.filter((pane) => pane.session === session).map((pane) => pane.windowIndex);
    const starting = this.#startingSessions.get(session) ?? { starts: 0, given: new Set() };
    this.#startingSessions.set(session, starting);
    const taken = new Set([...indexes, ...starting.given]);
    const { index: own = null, last = 0 } = wanted ?? {};
    const index = own !== null && !taken.has(own) ? own : Math.max(FIRST_WINDOW_INDEX - 1, last, ...taken) + 1;
    starting.given.add(index);
    starting.starts += 1;
    try {
      return await start(index);
    } finally {
      starting.starts -= 1;
      if (starting.starts === 0) this.#startingSessions.delete(session);
    }
  }

  /** Moves the pane into a window of its group that has room; otherwise its own window becomes another one of the group. */
  async #joinGroupWindow(
    client: ControlClient,
    { project, worker }: StartRequest,
    group: string,
    pane: string,
    panes: readonly Pane[],
  ): Promise<void> {
    const session = tmuxSessionName(project);
    const groupPanes = panes.filter((each) => each.session === session && each.group === group);
    for (const window of Map.groupBy(groupPanes, (mate) => mate.window).values()) {
      const last = window.at(-1); // panes stay in the order they were started
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

  /** Lists the panes; callers share one listing until it is answered. Answers come in order, so it shows all earlier changes. */
  async #panes(client: ControlClient): Promise<Pane[]> {
    this.#listing ??= listPanes(client).finally(() => (this.#listing = null));
    return this.#listing;
  }
}

/** Returns the options of this pane alone: our marks, and what a person set on it. */
async function localOptions(client: ControlClient, pane: string): Promise<Map<string, string>> {
  const lines = await client.sendGuarded(["show-options", "-p", "-t", pane]);
  const names = lines.flatMap((line) => /^@?[\w-]+(?:\[\d+\])?(?= )/.exec(line) ?? []);
  const values = await Promise.all(
    names.map((name) => client.sendGuarded(["show-options", "-p", "-q", "-v", "-t", pane, name])),
  );
  return new Map(names.map((name, index) => [name, values[index]?.join("\n") ?? ""]));
}

function parseStartedPane(lines: readonly string[] | undefined): StartedPane {
  const [pane = "", pid] = (lines?.[0] ?? "").split(" ");
  if (!/^%\d+$/.test(pane))
    throw new PerdureError("internal", `tmux did not report the new pane: ${JSON.stringify(lines)}.`);
  return { pane, pid: Number(pid) };
}
