import { CAPTURE_LINES, PANE_POLLS_PER_FULL_CHECK, PANE_POLL_MS, TITLE_POLL_MS } from "../../limits/index.ts";
import { looksSuspended } from "../../runtime/tmux/suspended-screen.ts";
import type { TmuxServer } from "../../runtime/tmux/server.ts";
import type { Pane } from "../../runtime/tmux/pane-list.ts";
import { setWindowIndex } from "../../store/fleet.ts";
import { runById } from "../../store/runs.ts";
import type { LaunchServices } from "../launch/services.ts";
import type { TmuxHandle } from "./tmux-handle.ts";
import { resumeSuspended } from "./screens.ts";

/**
 * Polls the panes of workers for what their agents do not report: titles, the screen of an agent that may show a dialog, and
 * now and then every screen, because an agent that was suspended with Ctrl-Z in a pane would stay so for ever.
 */
export class PanePoll {
  readonly #services: LaunchServices;
  readonly #tmux: TmuxHandle;
  readonly #titles = new Map<string, string>();
  /** The number of each worker's window, as it was seen last. */
  readonly #places = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #round = 0;
  #polling = false;

  constructor(services: LaunchServices, tmux: TmuxHandle) {
    this.#services = services;
    this.#tmux = tmux;
  }

  start(server: TmuxServer): void {
    server.onTitle(({ run }, title) => {
      if (run === null) return;
      this.#titles.set(run, title);
      this.#services.conversations.reportActivity(run);
      // Once more at each poll, because a title is passed over right after a sign; here already, because somebody may be needed.
      this.#services.conversations.onTitle(run, title);
    });
    server.onPanes((panes) => this.#notePlaces(panes));
    this.#timer ??= setInterval(() => void this.#poll(), TITLE_POLL_MS).unref();
  }

  /** Notes where a person has moved the windows of workers, so that they come back there. */
  #notePlaces(panes: readonly Pane[]): void {
    const moved = panes.filter(({ workerId, windowIndex }) => {
      return workerId !== null && this.#places.get(workerId) !== windowIndex;
    });
    if (moved.length === 0) return;
    for (const { workerId, windowIndex } of moved) if (workerId !== null) this.#places.set(workerId, windowIndex);
    const { db, writer, log } = this.#services;
    writer
      .write(() => {
        for (const { workerId, windowIndex } of moved) setWindowIndex(db, Number(workerId), windowIndex);
      })
      .catch((error: unknown) => log(`the places of windows: ${String(error)}`));
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
  }

  /** Forgets the title of a run that has ended. */
  forget(run: string): void {
    this.#titles.delete(run);
  }

  async #poll(): Promise<void> {
    // Polls do not overlap when one takes longer than the interval.
    if (this.#polling) return;
    this.#polling = true;
    const round = ++this.#round / (PANE_POLL_MS / TITLE_POLL_MS);
    try {
      await this.#readTitles();
      if (!Number.isInteger(round)) return;
      for (const [run, title] of this.#titles) this.#services.conversations.onTitle(run, title);
      const all = round % PANE_POLLS_PER_FULL_CHECK === 0;
      const runs = this.#services.conversations.runsWhere((attention) => attention.needsScreen(all));
      if (runs.size > 0) await this.#capture(runs);
    } catch (error) {
      this.#services.log(`panes: ${String(error)}`);
    } finally {
      this.#polling = false;
    }
  }

  /** Reads the titles of agents that are at work, or were a moment ago. */
  async #readTitles(): Promise<void> {
    const runs = this.#services.conversations.runsWhere(({ needsTitle }) => needsTitle);
    const panes = runs.size === 0 ? undefined : await this.#tmux.existingServer()?.panes();
    for (const { run, title, dead } of panes ?? []) {
      if (run === null || dead || !runs.has(run)) continue;
      this.#titles.set(run, title);
      this.#services.conversations.onTitle(run, title);
    }
  }

  async #capture(runs: ReadonlySet<string>): Promise<void> {
    const server = this.#tmux.existingServer();
    const panes = ((await server?.panes()) ?? []).filter(
      (pane): pane is Pane & { run: string } => pane.run !== null && runs.has(pane.run) && !pane.dead,
    );
    for (const { id, run } of panes) {
      const text = await server?.capture(id, { lines: CAPTURE_LINES });
      if (text === undefined) return;
      this.#services.conversations.onScreen(run, text);
      const row = looksSuspended(text) ? runById(this.#services.db, run) : null;
      if (row) resumeSuspended(this.#services, row);
    }
  }
}
