import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { TMUX_ANSWER_MS, TMUX_LEAVING_MS, TMUX_RECONNECT_MS } from "../../limits/index.ts";
import type { Environment } from "../../util/environment.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { ControlClient, unansweredError, tmuxMessageOf } from "./control-client.ts";
import { serverEnvironment, serverOptions } from "./options.ts";

const exec = promisify(execFile);

/** The session that the control client attaches to; its pane ended at once. No project's session begins with `_`. */
export const CONTROL_SESSION = "_perdure";
const NEW_CONTROL_SESSION = ["new-session", "-d", "-s", CONTROL_SESSION, "-c", "/", "--", "/bin/sh", "-c", ":"];

export interface ConnectionOptions {
  socket: string;
  /** The absolute path of the tmux program. */
  file: string;
  environment: Environment;
  log: (line: string) => void;
  /** A format whose value is reported about once a second when it has changed; null when the server is gone. */
  watch: { format: string; changed: (value: string | null) => void };
}

/** The connection to our own tmux server, which is started on demand and found again after it or the client ended. */
export class TmuxConnection {
  readonly #options: ConnectionOptions;
  readonly #environment: Record<string, string>;
  #client: ControlClient | null = null;
  #finding: Promise<ControlClient | null> | null = null;
  #starting: Promise<ControlClient> | null = null;
  #retryTimer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#environment = serverEnvironment(options.environment);
  }

  /** Returns a client of the server; starts a server if none answers. */
  async ensure(): Promise<ControlClient> {
    const client = await this.find();
    if (client) return client;
    this.#starting ??= this.#start().finally(() => (this.#starting = null));
    return this.#starting;
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
      await this.#tmux(["-N"], [["kill-server"]]);
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
      try {
        return await this.#connect();
      } catch (error) {
        if (!isServerExiting(error) || this.#closed || performance.now() > deadline) throw error;
        if (tries === 1) this.#options.log("The fleet's tmux server is exiting; waiting for it to end.");
        await sleep(TMUX_LEAVING_MS);
      }
    }
  }

  #disconnect(): void {
    if (this.#retryTimer) clearTimeout(this.#retryTimer);
    const client = this.#client;
    this.#client = null;
    client?.close();
  }

  async #start(): Promise<ControlClient> {
    const options = serverOptions(this.#environment);
    // The server makes a session and a process group of its own, so what ends the daemon does not end the server.
    await this.#tmux(["-f", "/dev/null"], [["start-server"], ...options, NEW_CONTROL_SESSION]);
    const client = await this.find();
    if (client) return client;
    throw new PerdureError("unavailable", `tmux started no server at ${this.#options.socket}.`, {
      hint: `try it by hand: ${this.#options.file} -S ${this.#options.socket} new-session`,
    });
  }

  async #connect(): Promise<ControlClient | null> {
    const client = await this.#attach().catch((error: unknown) => {
      if (isServerAbsent(error)) return null;
      throw error;
    });
    if (client === null) return null;
    // The options are set again, because another version of perdure may have started the server.
    const subscription = ["refresh-client", "-B", `perdure::${this.#options.watch.format}`];
    await client.send(...serverOptions(this.#environment), subscription);
    if (this.#closed) client.close();
    this.#client = client;
    void client.gone.then((why) => this.#onClientGone(client, why));
    return client;
  }

  async #attach(): Promise<ControlClient> {
    const { file, socket } = this.#options;
    const options = { file, socket, session: CONTROL_SESSION, environment: this.#environment };
    const notice = (line: string): void => this.#onNotice(line);
    try {
      return await ControlClient.open(options, notice);
    } catch (error) {
      if (!/can't find session|no sessions/.test(tmuxMessageOf(error))) throw error;
      await this.#tmux(["-N"], [NEW_CONTROL_SESSION]); // somebody closed the session; the workers are still there
      return ControlClient.open(options, notice);
    }
  }

  /** Reads `%subscription-changed name $0 - - - : value`. */
  #onNotice(line: string): void {
    const value = /^%subscription-changed perdure \S+ \S+ \S+ \S+ : (.*)$/s.exec(line)?.[1];
    if (value !== undefined) this.#options.watch.changed(value);
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

  /** Runs tmux as a process, for commands that a control client cannot run. None of our words ends in `;`. */
  async #tmux(flags: string[], commands: string[][]): Promise<void> {
    const words = commands.flatMap((command, index) => (index === 0 ? command : [";", ...command]));
    const { file, socket } = this.#options;
    const options = { env: this.#environment, cwd: "/", timeout: TMUX_ANSWER_MS };
    try {
      await exec(file, ["-u", "-S", socket, ...flags, ...words], options);
    } catch (error) {
      const stderr = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
      throw unansweredError(stderr || String(error), error);
    }
  }
}

function isServerAbsent(error: unknown): boolean {
  return /no server running|error connecting to .*(No such file|Connection refused)/.test(tmuxMessageOf(error));
}

function isServerExiting(error: unknown): boolean {
  return /server exited|lost server/.test(tmuxMessageOf(error));
}
