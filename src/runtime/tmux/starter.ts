import { randomBytes } from "node:crypto";
import { PANES_PER_WINDOW_MAX } from "../../limits.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { isRefusal, type ControlClient } from "./control.ts";
import { listPanes } from "./list.ts";
import type { Pane } from "./panes.ts";
import { groupMarks, joinGroup, newSession, newWindow, respawn, sessionName, type StartRequest } from "./start.ts";

export interface Started {
  pane: string;
  pid: number;
}

/** Starts processes in panes, many at once: only those of one worker or of one group wait for each other. */
export class Starter {
  readonly #log: (line: string) => void;
  /** The last one in each line. */
  readonly #turns = new Map<string, Promise<unknown>>();
  /** Sessions asked for and not yet there. */
  readonly #opening = new Set<string>();
  #listing: Promise<Pane[]> | null = null;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  async start(client: ControlClient, request: StartRequest): Promise<Started> {
    const { project, group, workerId } = request;
    const start = (): Promise<Started> => this.#inTurn(`worker ${workerId}`, () => this.#once(client, request));
    return group === null ? start() : this.#inTurn(`group ${sessionName(project)} ${group}`, start);
  }

  /** The session or the pane may go, or come, between looking and starting: then it is looked once more. */
  async #once(client: ControlClient, request: StartRequest): Promise<Started> {
    try {
      return await this.#place(client, request);
    } catch (error) {
      if (!isRefusal(error, /duplicate session|can't find (session|window|pane)/)) throw error;
      return this.#place(client, request);
    }
  }

  async #place(client: ControlClient, request: StartRequest): Promise<Started> {
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
    if (old) return startedOf((await client.send(...respawn(request, old.id))).at(-1));
    // What it left where it no longer belongs: another project's session, another group's window.
    for (const { id } of own) await client.send(["kill-pane", "-t", id]);
    return this.#window(client, request, panes);
  }

  async #window(client: ControlClient, request: StartRequest, panes: readonly Pane[]): Promise<Started> {
    const session = sessionName(request.project);
    const token = `perdure-${randomBytes(8).toString("hex")}`;
    const there = this.#opening.has(session) || panes.some((pane) => pane.session === session);
    if (!there) this.#opening.add(session);
    // Sent in this very turn: whoever comes next finds the session in the making, and need not wait for it.
    const answer = client.send(...(there ? newWindow : newSession)(request, token));
    try {
      const started = startedOf((await answer)[0]);
      if (request.group !== null) await this.#join(client, request.group, started.pane, session, panes);
      return started;
    } finally {
      if (!there) this.#opening.delete(session);
    }
  }

  /** Into a window of its group that has room; else its own window becomes one more of the group. */
  async #join(
    client: ControlClient,
    group: string,
    pane: string,
    session: string,
    panes: readonly Pane[],
  ): Promise<void> {
    const mates = panes.filter((each) => each.session === session && each.group === group);
    for (const window of Map.groupBy(mates, (mate) => mate.window).values()) {
      const last = window.at(-1); // behind it, so that they stand in the order they came
      if (last === undefined || window.length >= PANES_PER_WINDOW_MAX) continue;
      try {
        await client.send(...joinGroup(pane, last.id));
        return;
      } catch (error) {
        if (!isRefusal(error, /too small|no space|can't find/)) throw error;
        this.#log(`${pane} does not fit into the window of group ${group}: ${String(error)}`);
      }
    }
    await client.send(...groupMarks(group, pane));
  }

  /** Those who ask before it is answered share one look; answers come in order, so it shows all that was done before. */
  async #panes(client: ControlClient): Promise<Pane[]> {
    this.#listing ??= listPanes(client).finally(() => (this.#listing = null));
    return this.#listing;
  }

  async #inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
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

function startedOf(lines: readonly string[] | undefined): Started {
  const [pane = "", pid] = (lines?.[0] ?? "").split(" ");
  if (!/^%\d+$/.test(pane))
    throw new PerdureError("internal", `tmux did not say where it started: ${JSON.stringify(lines)}.`);
  return { pane, pid: Number(pid) };
}
