import { existsSync } from "node:fs";
import { findTmux } from "../../runtime/tmux/find.ts";
import type { Pane } from "../../runtime/tmux/pane-list.ts";
import { TmuxServer } from "../../runtime/tmux/server.ts";
import type { StatePaths } from "../../state/paths.ts";
import { Semaphore } from "../../util/semaphore.ts";

/** The access to perdure's own tmux server. tmux is not looked for before it is needed: many users run one worker in a terminal. */
export class TmuxHandle {
  readonly #paths: StatePaths;
  readonly #log: (line: string) => void;
  readonly #onServer: (server: TmuxServer) => void;
  #server: TmuxServer | null = null;
  #program: string | null = null;
  #users = 0;
  #ending: Promise<void> | null = null;
  #listing: Promise<Pane[]> | null = null;
  /** Panes are removed one at a time: tmux 3.3 crashes, with every worker, when a session's last panes go at once. */
  readonly #removing = new Semaphore(1);

  constructor(
    paths: StatePaths,
    log: (line: string) => void,
    onServer: (server: TmuxServer) => void = () => undefined,
  ) {
    this.#paths = paths;
    this.#log = log;
    this.#onServer = onServer;
  }

  /**
   * Returns the server. Throws with the next step when tmux is neither on the daemon's PATH, which is that of its first
   * client, nor on the caller's.
   */
  server(path = ""): TmuxServer {
    if (this.#server) return this.#server;
    const { HOME, LANG, LC_ALL } = process.env;
    const PATH = [process.env.PATH, path].filter(Boolean).join(":");
    const environment = { PATH, HOME, LANG, LC_ALL };
    const tmux = findTmux(PATH);
    this.#program = tmux.file;
    this.#server = new TmuxServer({ socket: this.#paths.tmux, tmux, environment, log: this.#log });
    this.#onServer(this.#server);
    return this.#server;
  }

  /** Returns the server, or null when none was ever started, so that there are no panes. */
  existingServer(): TmuxServer | null {
    return existsSync(this.#paths.tmux) ? this.server() : null;
  }

  /** Lists the panes; callers share one listing while it is in progress, for a fleet that falls together. */
  async sharedPanes(): Promise<Pane[]> {
    this.#listing ??= (this.existingServer()?.panes() ?? Promise.resolve([])).finally(() => (this.#listing = null));
    return this.#listing;
  }

  /** Runs the action while the server cannot be ended. */
  async whileInUse<T>(act: () => Promise<T>): Promise<T> {
    while (this.#ending) await this.#ending;
    this.#users++;
    try {
      return await act();
    } finally {
      this.#users--;
    }
  }

  /** Ends the server when it has neither a worker nor a window that a person has opened. */
  async endIfEmpty(): Promise<void> {
    const server = this.#users === 0 && this.#ending === null ? this.existingServer() : null;
    if (!server) return;
    this.#ending = server
      .isEmpty()
      .then((empty) => (empty ? server.kill() : undefined))
      .finally(() => (this.#ending = null));
    await this.#ending;
  }

  /** Removes the pane if it still belongs to that run: another server gives the same numbers again. */
  async removePane({ id, run }: Pane): Promise<void> {
    await this.#removing.run(async () => this.existingServer()?.removePane(id, run ?? undefined));
  }

  /** Returns the path of tmux. */
  program(): string {
    return this.#program ?? findTmux(process.env.PATH).file;
  }

  close(): void {
    this.#server?.close();
  }
}
