import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Home } from "../support/home.ts";

const exec = promisify(execFile);
const WAIT_MS = 60_000;
const LOOK_EVERY_MS = 10;

/** Looks until there is an answer; a deadline far beyond any load only keeps a broken test from hanging. */
export async function until<T>(
  what: string,
  look: () => T | null | Promise<T | null>,
  seen?: () => Promise<string>,
): Promise<T> {
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > deadline) throw new Error(`never seen: ${what}\n${seen ? await seen() : ""}`);
    await sleep(LOOK_EVERY_MS);
  }
}

/** A tmux server of our own: no configuration, its socket in the test's home, panes that stay after their end. */
export class Tmux {
  readonly #home: Home;
  readonly #socket: string;

  private constructor(home: Home, socket = join(home.dir, "t")) {
    this.#home = home;
    this.#socket = socket;
  }

  /** One that somebody else has started, and ends. */
  static at(home: Home, socket: string): Tmux {
    return new Tmux(home, socket);
  }

  static async start(home: Home): Promise<Tmux> {
    const tmux = new Tmux(home);
    await tmux.do("new-session", "-d", "-x", "110", "-y", "24", "-s", "test", "sleep", "infinity");
    // Not `window-size manual`: with it tmux 3.3a crashes at the first new window. `resize-window` sets it per window.
    await tmux.do("set-option", "-g", "default-size", "110x24");
    await tmux.do("set-option", "-g", "remain-on-exit", "on");
    await tmux.do("set-option", "-s", "escape-time", "0");
    return tmux;
  }

  async do(...args: string[]): Promise<string> {
    const { stdout } = await exec("tmux", ["-S", this.#socket, "-f", "/dev/null", ...args], { env: this.#home.env });
    return stdout;
  }

  /** The words are the pane's own command, with no shell between: it leads the pane's session. */
  async pane(command: string[], env: Record<string, string> = {}): Promise<Pane> {
    const variables = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
    const id = await this.do(
      "new-window",
      "-d",
      "-P",
      "-F",
      "#{pane_id}",
      "-c",
      this.#home.project,
      ...variables,
      "--",
      ...command,
    );
    return new Pane(this, id.trim());
  }

  async stop(): Promise<void> {
    await this.do("kill-server");
  }
}

/** The modes that a full-screen program may leave behind. */
export interface Modes {
  alternate: boolean;
  cursor: boolean;
  mouse: boolean;
  keypad: boolean;
}

export const CLEAN: Modes = { alternate: false, cursor: true, mouse: false, keypad: false };

export class Pane {
  readonly #tmux: Tmux;
  readonly id: string;

  constructor(tmux: Tmux, id: string) {
    this.#tmux = tmux;
    this.id = id;
  }

  /** Key names as tmux knows them: C-c, Enter, q. */
  async keys(...keys: string[]): Promise<void> {
    await this.#tmux.do("send-keys", "-t", this.id, "--", ...keys);
  }

  async type(text: string): Promise<void> {
    await this.#tmux.do("send-keys", "-t", this.id, "-l", "--", text);
  }

  async line(text: string): Promise<void> {
    await this.type(text);
    await this.keys("Enter");
  }

  async screen(): Promise<string> {
    return this.#tmux.do("capture-pane", "-p", "-J", "-t", this.id);
  }

  async shows(wanted: RegExp): Promise<RegExpExecArray> {
    return until(
      String(wanted),
      async () => wanted.exec(await this.screen()),
      () => this.screen(),
    );
  }

  async format(format: string): Promise<string> {
    return (await this.#tmux.do("display-message", "-p", "-t", this.id, format)).trimEnd();
  }

  async modes(): Promise<Modes> {
    const flags = await this.format(
      "#{alternate_on} #{cursor_flag} #{mouse_any_flag}#{mouse_standard_flag}#{mouse_button_flag}#{mouse_all_flag}#{mouse_sgr_flag} #{keypad_flag}#{keypad_cursor_flag}",
    );
    const [alternate, cursor, mouse = "", keypad = ""] = flags.split(" ");
    return {
      alternate: alternate === "1",
      cursor: cursor === "1",
      mouse: mouse.includes("1"),
      keypad: keypad.includes("1"),
    };
  }

  /** How the pane's own command ended, as tmux's waitpid saw it: its code, or 128 + the signal that killed it. */
  async ended(): Promise<number> {
    return until(
      `the end of ${this.id}`,
      () => this.status(),
      () => this.screen(),
    );
  }

  /** Tells how the pane's own command ended, as `ended` does; null while it runs. */
  async status(): Promise<number | null> {
    const format = "#{pane_dead}/#{pane_dead_status}/#{pane_dead_signal}/#{pid}";
    const [dead, status, signal, server] = (await this.format(format)).split("/");
    if (dead !== "1") return null;
    if (signal) return 128 + Number(signal);
    if (status) return Number(status);
    // tmux 3.3a loses one SIGCHLD in ten (any program): the child stays a zombie until the next one comes.
    process.kill(Number(server), "SIGCHLD");
    return null;
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.#tmux.do("resize-window", "-t", this.id, "-x", String(columns), "-y", String(rows));
  }

  async kill(): Promise<void> {
    await this.#tmux.do("kill-pane", "-t", this.id);
  }
}
