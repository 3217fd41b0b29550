import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { TMUX_ANSWER_MS, TMUX_LEAVING_MS, TMUX_RECONNECT_MS } from "../../limits/index.ts";
import type { Environment } from "../../util/environment.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { ControlClient, unansweredError, tmuxMessageOf } from "./control-client.ts";
import { serverEnvironment, serverOptions } from "./options.ts";

const exec = promisify(execFile);

/** What the control client is attached to: a pane whose process has ended at once. No project's session begins with `_`. */
export const CONTROL_SESSION = "_perdure";
const NEW_CONTROL_SESSION = ["new-session", "-d", "-s", CONTROL_SESSION, "-c", "/", "--", "/bin/sh", "-c", ":"];

export interface ConnectionOptions {
  socket: string;
  /** tmux itself, an absolute path. */
  file: string;
  environment: Environment;
  log: (line: string) => void;
  /** A format whose value is told about once a second, when it has changed; null when there is no server any more. */
  watch: { format: string; changed: (value: string | null) => void };
}

/** The way to our own tmux server: started when it is needed, found again when it or the client has gone. */
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

  /** A client to the server; starts one if none answers. */
  async ensure(): Promise<ControlClient> {
    const client = await this.find();
    if (client) return client;
    this.#starting ??= this.#start().finally(() => (this.#starting = null));
    return this.#starting;
  }

  /** A client to the server, or null if there is no server. */
  async find(): Promise<ControlClient | null> {
    if (this.#client && !this.#client.isGone) return this.#client;
    this.#finding ??= this.#connectPatiently().finally(() => (this.#finding = null));
    return this.#finding;
  }

  /** Ends the server and every process in it. */
  async kill(): Promise<void> {
    this.#disconnect();
    const deadline = performance.now() + TMUX_ANSWER_MS;
    // It answers before it is gone: asked until nobody answers, so that the next one starts on free ground.
    while (!(await this.#killOnce())) if (performance.now() > deadline) throw unansweredError("it does not end");
    this.#options.watch.changed(null);
  }

  /** Lets go; the server and its panes live on. */
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

  /** A server that is just ending takes calls and drops them: it is called again until it has gone. */
  async #connectPatiently(): Promise<ControlClient | null> {
    const deadline = performance.now() + TMUX_ANSWER_MS;
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#connect();
      } catch (error) {
        if (!isServerExiting(error) || this.#closed || performance.now() > deadline) throw error;
        if (tries === 1) this.#options.log("The tmux server of the fleet is ending; waiting for it to go.");
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
    // It makes a session and a process group of its own: what ends the daemon does not end it.
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
    // Again, because another version of us may have started it.
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
      await this.#tmux(["-N"], [NEW_CONTROL_SESSION]); // somebody closed it; the workers are still there
      return ControlClient.open(options, notice);
    }
  }

  /** `%subscription-changed name $0 - - - : value` */
  #onNotice(line: string): void {
    const value = /^%subscription-changed perdure \S+ \S+ \S+ \S+ : (.*)$/s.exec(line)?.[1];
    if (value !== undefined) this.#options.watch.changed(value);
  }

  #onClientGone(client: ControlClient, why: PerdureError): void {
    if (this.#client !== client) return; // let go, or replaced already
    this.#client = null;
    this.#options.log(why.message);
    this.#reconnectLater();
  }

  /** By itself, so that ends are seen though nobody asks. */
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

  /** By a process of its own: for what a control client cannot do. None of our words ends in `;`. */
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
