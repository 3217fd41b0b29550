import { existsSync } from "node:fs";
import { findTmux } from "../../runtime/tmux/find.ts";
import type { Pane } from "../../runtime/tmux/pane-list.ts";
import { TmuxServer } from "../../runtime/tmux/server.ts";
import type { StatePaths } from "../../state/paths.ts";
import { Semaphore } from "../../util/semaphore.ts";

/** Our tmux server. Nothing of it is looked for before it is needed: most who use perdure have one worker in a terminal. */
export class TmuxHandle {
  readonly #paths: StatePaths;
  readonly #log: (line: string) => void;
  readonly #onServer: (server: TmuxServer) => void;
  #server: TmuxServer | null = null;
  #program: string | null = null;
  #users = 0;
  #ending: Promise<void> | null = null;
  #listing: Promise<Pane[]> | null = null;
  /** tmux 3.3 crashes when a session's last panes are removed in one breath, and takes every worker with it. */
  readonly #removing = new Semaphore(1);

  constructor(paths: StatePaths, log: (line: string) => void, prepare: (server: TmuxServer) => void = () => undefined) {
    this.#paths = paths;
    this.#log = log;
    this.#onServer = prepare;
  }

  /**
   * Throws with the next step when tmux is missing: neither on our own PATH, which whoever started us first has given, nor on
   * that of the one who asks now.
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

  /** Null when there never was one: then there are no panes either. */
  existingServer(): TmuxServer | null {
    return existsSync(this.#paths.tmux) ? this.server() : null;
  }

  /** Of runs that have ended: those who ask before it is answered share one list, when a fleet falls together. */
  async sharedPanes(): Promise<Pane[]> {
    this.#listing ??= (this.existingServer()?.panes() ?? Promise.resolve([])).finally(() => (this.#listing = null));
    return this.#listing;
  }

  /** While something is started, nobody ends the server. */
  async whileInUse<T>(act: () => Promise<T>): Promise<T> {
    while (this.#ending) await this.#ending;
    this.#users++;
    try {
      return await act();
    } finally {
      this.#users--;
    }
  }

  /** With nobody left in it, neither a worker nor a window that a person has opened, the server goes, too. */
  async endIfEmpty(): Promise<void> {
    const server = this.#users === 0 && this.#ending === null ? this.existingServer() : null;
    if (!server) return;
    this.#ending = server
      .isEmpty()
      .then((empty) => (empty ? server.kill() : undefined))
      .finally(() => (this.#ending = null));
    await this.#ending;
  }

  /** Only if it is still that run's: another server numbers its panes anew. */
  async removePane({ id, run }: Pane): Promise<void> {
    await this.#removing.run(async () => this.existingServer()?.removePane(id, run ?? undefined));
  }

  /** Its path, once it was needed. */
  program(): string {
    return this.#program ?? findTmux(process.env.PATH).file;
  }

  close(): void {
    this.#server?.close();
  }
}
