import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { TMUX_ANSWER_MS, TMUX_EXIT_POLL_MS, TMUX_RECONNECT_MS } from "../../limits/index.ts";
import type { Environment } from "../../util/environment.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { hintOf, verb } from "../../protocol/hint.ts";
import { ControlClient, tmuxMessageOf, unansweredError } from "./control-client.ts";
import { essentialOptions, essentialValues, serverEnvironment, serverOptions } from "./options.ts";
import type { ProcessTable } from "../process/index.ts";
import { ALL_SESSIONS, CONTROL_SESSION, tidySessions } from "./views.ts";
import { findElsewhere, serverMark } from "./server-place.ts";
import { killServer, readCommands, remakeControlSession, startServer } from "./start-server.ts";
import { anyShellWords } from "../../util/shell-quote.ts";

export interface ConnectionOptions {
  socket: string;
  /** The absolute path of the tmux program. */
  file: string;
  environment: Environment;
  log: (line: string) => void;
  /** A format whose value is reported about once a second when it has changed; null when the server is gone. */
  watch: { format: string; changed: (value: string | null) => void };
  processes: Pick<ProcessTable, "namespace" | "inspect">;
  /** The user's own file of tmux commands, read after our options; null for none. */
  userFile: () => string | null;
}

/** The connection to our own tmux server, which is started on demand and found again after it or the client ended. */
export class TmuxConnection {
  readonly #options: ConnectionOptions;
  readonly #environment: Record<string, string>;
  #client: ControlClient | null = null;
  #finding: Promise<ControlClient | null> | null = null;
  #starting: Promise<ControlClient> | null = null;
  /** Ends when tmux has started the server; rejects never. */
  #serverStart: Promise<void> | null = null;
  #retryTimer: NodeJS.Timeout | null = null;
  #closed = false;
  /** The mark of the user's own file as it was read last. */
  #userFileRead = "";
  #userFileProblem: string | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#environment = serverEnvironment(options.environment);
  }

  /** Returns a client of the server; starts a server if none answers. Throws if the server starts nothing that can be seen. */
  async ensure(): Promise<ControlClient> {
    const client = (await this.find()) ?? (await this.#startOnce());
    if (client.serverElsewhere !== null) throw elsewhereError(this.#options.socket, client.serverElsewhere);
    return client;
  }

  /** Returns a client of the server; null if there is no server. */
  async find(): Promise<ControlClient | null> {
    if (this.#client && !this.#client.isGone) return this.#client;
    this.#finding ??= this.#connectPatiently().finally(() => (this.#finding = null));
    return this.#finding;
  }

  /** Ends the server and every process in it. */
  async kill(): Promise<void> {
    this.#disconnect();
    const deadline = performance.now() + TMUX_ANSWER_MS;
    // The server answers before it exits: retried until nobody answers, so that the next one can start.
    while (!(await this.#killOnce())) if (performance.now() > deadline) throw unansweredError("it does not exit");
    this.#options.watch.changed(null);
  }

  /** Disconnects; the server and its panes keep running. */
  close(): void {
    this.#closed = true;
    this.#disconnect();
  }

  async #killOnce(): Promise<boolean> {
    try {
      await killServer({ ...this.#options, environment: this.#environment });
      return false;
    } catch (error) {
      if (isServerAbsent(error)) return true;
      if (isServerExiting(error)) return false;
      throw error;
    }
  }

  /** Connects, and waits for a server that is exiting: such a server accepts connections and drops them. */
  async #connectPatiently(): Promise<ControlClient | null> {
    const deadline = performance.now() + TMUX_ANSWER_MS;
    for (let tries = 1; ; tries += 1) {
      await this.#serverStart;
      try {
        return await this.#connect();
      } catch (error) {
        if (!isServerExiting(error) || this.#closed || performance.now() > deadline) throw error;
        if (tries === 1) this.#options.log("The fleet's tmux server is exiting; waiting for it to end.");
        await sleep(TMUX_EXIT_POLL_MS);
      }
    }
  }

  #disconnect(): void {
    if (this.#retryTimer) clearTimeout(this.#retryTimer);
    const client = this.#client;
    this.#client = null;
    client?.close();
  }

  #startOnce(): Promise<ControlClient> {
    this.#starting ??= this.#start().finally(() => (this.#starting = null));
    return this.#starting;
  }

  /**
   * Starts a server, and connects afterwards. tmux 3.3a, as it makes a session, crashes on a control client that has connected and
   * has not told yet who it is, so that nobody connects meanwhile.
   */
  async #start(): Promise<ControlClient> {
    while (this.#finding) {
      const found = await this.#finding;
      if (found) return found;
    }
    const mark = serverMark(this.#options.processes.namespace());
    const starting = startServer({ ...this.#options, environment: this.#environment }, mark);
    this.#serverStart = starting.catch(() => undefined).finally(() => (this.#serverStart = null));
    await starting;
    const client = await this.find();
    if (client) return client;
    throw new PerdureError("unavailable", `tmux started no server at ${this.#options.socket}.`, {
      hint: `try it by hand: ${anyShellWords([this.#options.file, "-S", this.#options.socket, "new-session"])}`,
    });
  }

  async #connect(): Promise<ControlClient | null> {
    const client = await this.#attach().catch((error: unknown) => {
      if (isServerAbsent(error)) return null;
      throw error;
    });
    if (client === null) return null;
    // The options are set again, because another version of perdure may have started the server.
    const subscriptions = [
      ["refresh-client", "-B", `perdure::${this.#options.watch.format}`],
      ["refresh-client", "-B", `perdure-sessions::${ALL_SESSIONS}`],
      ["refresh-client", "-B", `perdure-options::${essentialValues()}`],
    ];
    await client.send(...serverOptions(this.#environment), ...subscriptions);
    await this.#readUserFile(client);
    client.serverElsewhere = await findElsewhere(client, this.#options.processes);
    if (this.#closed) client.close();
    this.#client = client;
    void client.gone.then((why) => this.#onClientGone(client, why));
    return client;
  }

  /**
   * Makes the server read the user's own file again where it is another one than was read last, or was changed; and puts right what
   * keeps workers alive, which a person undoes who has the server read it by hand. Returns tmux's own words about a mistake in it.
   */
  async readChangedUserFile(): Promise<string | null> {
    const client = await this.find();
    if (client === null) return null;
    if (markOf(this.#options.userFile()) !== this.#userFileRead) await this.#readUserFile(client);
    else await client.send(...essentialOptions());
    return this.#userFileProblem;
  }

  /** Has the server read the user's own file last, but for what keeps workers alive. A mistake in it keeps nobody from working. */
  async #readUserFile(client: ControlClient): Promise<void> {
    const file = this.#options.userFile();
    this.#userFileRead = markOf(file);
    this.#userFileProblem = null;
    if (file === null) return;
    try {
      await readCommands({ ...this.#options, environment: this.#environment }, file);
    } catch (error) {
      this.#userFileProblem = tmuxMessageOf(error) || String(error);
      this.#options.log(`[tmux] conf: ${this.#userFileProblem}`);
    }
    await client.send(...essentialOptions());
  }

  async #attach(): Promise<ControlClient> {
    const { file, socket } = this.#options;
    const options = { file, socket, session: CONTROL_SESSION, environment: this.#environment };
    const notice = (line: string): void => this.#onNotice(line);
    try {
      return await ControlClient.open(options, notice);
    } catch (error) {
      if (!/can't find session|no sessions/.test(tmuxMessageOf(error))) throw error;
      // Somebody closed the session; the workers are still there.
      await remakeControlSession({ ...this.#options, environment: this.#environment });
      return ControlClient.open(options, notice);
    }
  }

  /** Reads `%subscription-changed name $0 - - - : value`. */
  #onNotice(line: string): void {
    const [, name, value = ""] = /^%subscription-changed (\S+) \S+ \S+ \S+ \S+ : (.*)$/s.exec(line) ?? [];
    if (name === "perdure") this.#options.watch.changed(value);
    if (name === "perdure-sessions") this.#onNoticed(async (client) => tidySessions(client, value));
    if (name === "perdure-options") this.#onNoticed(async (client) => client.send(...essentialOptions()));
  }

  #onNoticed(act: (client: ControlClient) => Promise<unknown>): void {
    this.find()
      .then((client) => client && act(client))
      .catch((error: unknown) => this.#options.log(tmuxMessageOf(error) || String(error)));
  }

  #onClientGone(client: ControlClient, why: PerdureError): void {
    if (this.#client !== client) return; // disconnected, or replaced already
    this.#client = null;
    this.#options.log(why.message);
    this.#reconnectLater();
  }

  /** Reconnects without a request, so that the ends of panes are noticed. */
  #reconnectLater(): void {
    if (this.#retryTimer) clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = null;
      this.find().then(
        (client) => client ?? this.#options.watch.changed(null),
        (error: unknown) => {
          this.#options.log(error instanceof Error ? error.message : String(error));
          if (!this.#closed) this.#reconnectLater();
        },
      );
    }, TMUX_RECONNECT_MS);
    this.#retryTimer.unref();
  }
}

/** Tells one state of a file from another; empty without a file. */
function markOf(file: string | null): string {
  const stats = file === null ? undefined : statSync(file, { throwIfNoEntry: false });
  return stats === undefined ? "" : `${file} ${stats.ino} ${stats.size} ${stats.mtimeMs}`;
}

function elsewhereError(socket: string, place: string): PerdureError {
  const message = `The fleet's tmux server was started in another pid namespace (${place}), so its panes would start there.`;
  return new PerdureError("refused", message, {
    hint: hintOf`bring the fleet down there (${verb("down")}), end that server (${anyShellWords(["tmux", "-S", socket, "kill-server"])}), or use another state folder (PERDURE_HOME)`,
  });
}

function isServerAbsent(error: unknown): boolean {
  return /no server running|error connecting to .*(No such file|Connection refused)/.test(tmuxMessageOf(error));
}

function isServerExiting(error: unknown): boolean {
  return /server exited|lost server/.test(tmuxMessageOf(error));
}
