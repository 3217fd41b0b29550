import { existsSync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CONFIG_BYTES_MAX, TMUX_ANSWER_MS, TMUX_EXIT_POLL_MS } from "../../limits/index.ts";
import { readUserSettings } from "../../project/config/read.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import { findTmux } from "../../runtime/tmux/find.ts";
import { remakeSocket } from "../../runtime/tmux/lost-socket.ts";
import type { Pane } from "../../runtime/tmux/pane-list.ts";
import type { PaneView } from "../../runtime/tmux/paste.ts";
import { TmuxServer } from "../../runtime/tmux/server.ts";
import { readForeign } from "../../state/bounded-read.ts";
import { homeDir, userConfigFile } from "../../state/paths.ts";
import { Semaphore } from "../../util/semaphore.ts";
import type { BaseServices } from "../base-services.ts";

type TmuxHandleServices = Pick<BaseServices, "paths" | "log" | "processes">;

/** The access to perdure's own tmux server. tmux is not looked for before it is needed: many users run one worker in a terminal. */
export class TmuxHandle {
  readonly #services: TmuxHandleServices;
  readonly #onServer: (server: TmuxServer) => void;
  #server: TmuxServer | null = null;
  #program: string | null = null;
  #hadSocket = false;
  /** Why the user's own file of tmux commands cannot be read. */
  #unreadable: string | null = null;
  #users = 0;
  #ending: Promise<void> | null = null;
  #listing: Promise<Pane[]> | null = null;
  /** Panes are removed one at a time: tmux 3.3 crashes, with every worker, when a session's last panes go at once. */
  readonly #removing = new Semaphore(1);

  constructor(services: TmuxHandleServices, onServer: (server: TmuxServer) => void = () => undefined) {
    this.#services = services;
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
    const { paths, log, processes } = this.#services;
    const userFile = (): string | null => {
      this.#unreadable = null;
      return userTmuxFile((line) => {
        this.#unreadable = line;
        log(line);
      });
    };
    this.#server = new TmuxServer({ socket: paths.tmux, tmux, environment, log, processes, userFile });
    this.#onServer(this.#server);
    return this.#server;
  }

  /** Returns the server, or null when none was ever started, so that there are no panes. */
  existingServer(): TmuxServer | null {
    return existsSync(this.#services.paths.tmux) ? this.server() : null;
  }

  /**
   * Makes the server reachable again after its socket was removed: new terminals could not attach, and a later daemon would take
   * the fleet for gone. Only a socket that was there is missed, so that nobody without a fleet pays for the search.
   */
  restoreSocketIfGone(): void {
    const isThere = existsSync(this.#services.paths.tmux);
    const wasThere = this.#hadSocket;
    this.#hadSocket = isThere;
    if (wasThere && !isThere) this.#restoreSocket();
  }

  /** Looks for a server without a socket at the daemon's start, and waits until it can be reached. */
  async findLostServer(): Promise<void> {
    this.#hadSocket = existsSync(this.#services.paths.tmux);
    if (this.#hadSocket || !this.#restoreSocket()) return;
    const deadline = performance.now() + TMUX_ANSWER_MS;
    while (!existsSync(this.#services.paths.tmux) && performance.now() < deadline) await sleep(TMUX_EXIT_POLL_MS);
  }

  #restoreSocket(): boolean {
    mkdirSync(dirname(this.#services.paths.tmux), { recursive: true, mode: 0o700 });
    const found = remakeSocket(this.#services.processes, this.#services.paths.tmux);
    if (found) this.#services.log(`${this.#services.paths.tmux} was removed; the fleet's tmux server makes it again`);
    return found;
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
      // A socket that is removed before the next poll is missed, too.
      this.#hadSocket ||= existsSync(this.#services.paths.tmux);
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

  /** Looks at the pane of a run; null when it has none. */
  async view(run: string): Promise<PaneView | null> {
    return (await this.existingServer()?.view(run)) ?? null;
  }

  /** Pastes texts into the pane of a run, as a paste of this name; false when it has none. */
  async paste(run: string, texts: readonly string[], name: string): Promise<boolean> {
    return (await this.existingServer()?.paste(run, texts, name)) ?? false;
  }

  /** Presses Enter in the pane of a run; false when it has none. */
  async pressEnter(run: string): Promise<boolean> {
    return (await this.existingServer()?.pressEnter(run)) ?? false;
  }

  /** Removes the pane if it still belongs to that run: another server gives the same numbers again. */
  async removePane({ id, run }: Pane): Promise<void> {
    await this.#removing.run(async () => this.existingServer()?.removePane(id, run ?? undefined));
  }

  /** Has the server read the user's own file of tmux commands as it is now; returns what is wrong with it. */
  async readUserFile(server: TmuxServer): Promise<string | null> {
    const problem = await server.readChangedUserFile();
    return this.#unreadable ?? (problem === null ? null : `[tmux] conf: ${problem}`);
  }

  /** Returns the path of tmux. */
  program(): string {
    return this.#program ?? findTmux(process.env.PATH).file;
  }

  close(): void {
    this.#server?.close();
  }
}

/** Returns the file that `[tmux] conf` of the user's configuration names, if it can be read; a fifo would stop the server of all workers. */
function userTmuxFile(log: (line: string) => void): string | null {
  try {
    const { conf } = readUserSettings(userConfigFile(process.env)).tmux ?? {};
    if (conf === undefined) return null;
    const file = resolve(homeDir(process.env), conf.replace(/^~\//, ""));
    const read = readForeign(file, CONFIG_BYTES_MAX);
    if (read !== null && "text" in read) return file;
    log(`[tmux] conf: ${file} ${read?.problem ?? "does not exist"}`);
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    log(error.message);
  }
  return null;
}
