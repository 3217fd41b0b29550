import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { TMUX_ANSWER_MS, TMUX_LEAVING_MS, TMUX_RECONNECT_MS } from "../../limits/index.ts";
import type { Environment } from "../../util/environment.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { ControlClient, unanswered, wordsOf } from "./control-client.ts";
import { serverEnvironment, serverOptions } from "./options.ts";

const exec = promisify(execFile);

/** What the control client is attached to: a pane whose process has ended at once. No project's session begins with `_`. */
export const CONTROL_SESSION = "_perdure";
const NEW_KEEPER = ["new-session", "-d", "-s", CONTROL_SESSION, "-c", "/", "--", "/bin/sh", "-c", ":"];

export interface LinkOptions {
  socket: string;
  /** tmux itself, an absolute path. */
  file: string;
  environment: Environment;
  log: (line: string) => void;
  /** A format whose value is told about once a second, when it has changed; null when there is no server any more. */
  watch: { format: string; changed: (value: string | null) => void };
}

/** The way to our own tmux server: started when it is needed, found again when it or the client has gone. */
export class TmuxLink {
  readonly #options: LinkOptions;
  readonly #environment: Record<string, string>;
  #client: ControlClient | null = null;
  #finding: Promise<ControlClient | null> | null = null;
  #starting: Promise<ControlClient> | null = null;
  #again: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: LinkOptions) {
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
    this.#finding ??= this.#outlast().finally(() => (this.#finding = null));
    return this.#finding;
  }

  /** Ends the server and every process in it. */
  async kill(): Promise<void> {
    this.#letGo();
    const deadline = performance.now() + TMUX_ANSWER_MS;
    // It answers before it is gone: asked until nobody answers, so that the next one starts on free ground.
    while (!(await this.#killOnce())) if (performance.now() > deadline) throw unanswered("it does not end");
    this.#options.watch.changed(null);
  }

  /** Lets go; the server and its panes live on. */
  close(): void {
    this.#closed = true;
    this.#letGo();
  }

  async #killOnce(): Promise<boolean> {
    try {
      await this.#tmux(["-N"], [["kill-server"]]);
      return false;
    } catch (error) {
      if (isAbsent(error)) return true;
      if (isLeaving(error)) return false;
      throw error;
    }
  }

  /** A server that is just ending takes calls and drops them: it is called again until it has gone. */
  async #outlast(): Promise<ControlClient | null> {
    const deadline = performance.now() + TMUX_ANSWER_MS;
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#connect();
      } catch (error) {
        if (!isLeaving(error) || this.#closed || performance.now() > deadline) throw error;
        if (tries === 1) this.#options.log("The tmux server of the fleet is ending; waiting for it to go.");
        await sleep(TMUX_LEAVING_MS);
      }
    }
  }

  #letGo(): void {
    if (this.#again) clearTimeout(this.#again);
    const client = this.#client;
    this.#client = null;
    client?.close();
  }

  async #start(): Promise<ControlClient> {
    const options = serverOptions(this.#environment);
    // It makes a session and a process group of its own: what ends the daemon does not end it.
    await this.#tmux(["-f", "/dev/null"], [["start-server"], ...options, NEW_KEEPER]);
    const client = await this.find();
    if (client) return client;
    throw new PerdureError("unavailable", `tmux started no server at ${this.#options.socket}.`, {
      hint: `try it by hand: ${this.#options.file} -S ${this.#options.socket} new-session`,
    });
  }

  async #connect(): Promise<ControlClient | null> {
    const client = await this.#attach().catch((error: unknown) => {
      if (isAbsent(error)) return null;
      throw error;
    });
    if (client === null) return null;
    // Again, because another version of us may have started it.
    const subscription = ["refresh-client", "-B", `perdure::${this.#options.watch.format}`];
    await client.send(...serverOptions(this.#environment), subscription);
    if (this.#closed) client.close();
    this.#client = client;
    void client.gone.then((why) => this.#lost(client, why));
    return client;
  }

  async #attach(): Promise<ControlClient> {
    const { file, socket } = this.#options;
    const options = { file, socket, session: CONTROL_SESSION, environment: this.#environment };
    const notice = (line: string): void => this.#notice(line);
    try {
      return await ControlClient.open(options, notice);
    } catch (error) {
      if (!/can't find session|no sessions/.test(wordsOf(error))) throw error;
      await this.#tmux(["-N"], [NEW_KEEPER]); // somebody closed it; the workers are still there
      return ControlClient.open(options, notice);
    }
  }

  /** `%subscription-changed name $0 - - - : value` */
  #notice(line: string): void {
    const value = /^%subscription-changed perdure \S+ \S+ \S+ \S+ : (.*)$/s.exec(line)?.[1];
    if (value !== undefined) this.#options.watch.changed(value);
  }

  #lost(client: ControlClient, why: PerdureError): void {
    if (this.#client !== client) return; // let go, or replaced already
    this.#client = null;
    this.#options.log(why.message);
    this.#lookAgain();
  }

  /** By itself, so that ends are seen though nobody asks. */
  #lookAgain(): void {
    if (this.#again) clearTimeout(this.#again);
    this.#again = setTimeout(() => {
      this.#again = null;
      this.find().then(
        (client) => client ?? this.#options.watch.changed(null),
        (error: unknown) => {
          this.#options.log(error instanceof Error ? error.message : String(error));
          if (!this.#closed) this.#lookAgain();
        },
      );
    }, TMUX_RECONNECT_MS);
    this.#again.unref();
  }

  /** By a process of its own: for what a control client cannot do. None of our words ends in `;`. */
  async #tmux(flags: string[], commands: string[][]): Promise<void> {
    const words = commands.flatMap((command, index) => (index === 0 ? command : [";", ...command]));
    const { file, socket } = this.#options;
    const options = { env: this.#environment, cwd: "/", timeout: TMUX_ANSWER_MS };
    try {
      await exec(file, ["-u", "-S", socket, ...flags, ...words], options);
    } catch (error) {
      const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
      throw unanswered(said || String(error), error);
    }
  }
}

function isAbsent(error: unknown): boolean {
  return /no server running|error connecting to .*(No such file|Connection refused)/.test(wordsOf(error));
}

function isLeaving(error: unknown): boolean {
  return /server exited|lost server/.test(wordsOf(error));
}
