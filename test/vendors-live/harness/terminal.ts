import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Pane, Tmux } from "../../terminal/tmux.ts";
import { killMarked, untilGone, untilReaped } from "./marked-processes.ts";
import type { Vendor } from "./vendor.ts";

/** tmux tells nobody when a screen changes; more often than this costs more than it finds. */
const LOOK_EVERY_MS = 50;
const WAIT_MS = 60_000;
/** gemini takes an Enter within 30 ms of another key for a part of a text that comes in one piece. */
const ENTER_GUARD_MS = 150;
const SETTLED_MS = 200;

const MARK = "PERDURE_BED_TERMINAL";

/** The program ended while something else was waited for. */
export class Ended extends Error {}

/** A vendor's program in a real terminal, driven the way a person does: look, type, press Enter, look again. */
export class Terminal {
  readonly #tmux: Tmux;
  readonly #pane: Pane;
  readonly #vendor: Vendor;
  readonly #mark: string;
  #lost = false;
  /** The time at which Enter was pressed last. */
  enteredAtMs = 0;

  private constructor(tmux: Tmux, pane: Pane, vendor: Vendor, mark: string) {
    this.#tmux = tmux;
    this.#pane = pane;
    this.#vendor = vendor;
    this.#mark = mark;
  }

  /** Starts a command in a window of its own: the vendor's program, or something that ends up running it. */
  static async open(tmux: Tmux, vendor: Vendor, command: readonly string[]): Promise<Terminal> {
    const mark = randomUUID();
    return new Terminal(tmux, await tmux.pane([...command], { [MARK]: mark }), vendor, mark);
  }

  /** One that somebody else has opened. */
  static over(tmux: Tmux, pane: Pane, vendor: Vendor): Terminal {
    return new Terminal(tmux, pane, vendor, randomUUID());
  }

  async screen(): Promise<string> {
    return this.#pane.screen();
  }

  async title(): Promise<string> {
    return (await this.#tmux.do("display-message", "-p", "-t", this.#pane.id, "#{pane_title}")).trimEnd();
  }

  /** Whether its bell has rung. */
  async rang(): Promise<boolean> {
    return (await this.#pane.format("#{window_bell_flag}")) === "1";
  }

  /** Looks until the screen is as wanted, or throws `Ended` when the program is gone; the screen. */
  async until(what: string, wanted: (screen: string) => boolean, timeoutMs = WAIT_MS): Promise<string> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      // Asked for first: what the program showed last is on the screen then.
      const status = await this.#pane.status();
      const screen = await this.screen();
      if (wanted(screen)) return screen;
      if (status !== null) throw new Ended(`${this.#vendor.name}: ended with ${status} before: ${what}\n${screen}`);
      if (Date.now() > deadline) throw new Error(`${this.#vendor.name}: never seen: ${what}\n${screen}`);
      await sleep(LOOK_EVERY_MS);
    }
  }

  async shows(text: string): Promise<string> {
    return this.until(text, (screen) => screen.includes(text));
  }

  /**
   * Waits for input, with no turn running, and has done so for a moment: some show the line before they listen. One that
   * resumes a conversation is ready when that is on the screen too: await `shows` first.
   */
  async ready(): Promise<void> {
    await this.until("ready for input", this.#settled());
  }

  #settled(): (screen: string) => boolean {
    const { empty, busy } = this.#vendor.screen;
    let since = Infinity;
    return (screen) => {
      since = empty.test(screen) && !busy.test(screen) ? Math.min(since, Date.now()) : Infinity;
      return Date.now() - since >= SETTLED_MS;
    };
  }

  /** Pastes or types a prompt and sends it. Whether it got there, the model's log tells. */
  async prompt(text: string): Promise<void> {
    await this.#send(async () => {
      if (this.#vendor.screen.typed) return this.#pane.type(text);
      await this.#tmux.do("set-buffer", "-b", this.#mark, "--", text);
      await this.#tmux.do("paste-buffer", "-p", "-d", "-b", this.#mark, "-t", this.#pane.id);
    });
  }

  /** Types a part of a line, and waits until the program shows it; nothing is sent. */
  async type(text: string): Promise<void> {
    await this.#pane.type(text);
    await this.until(`${text} where it was typed`, (screen) => screen.includes(text.trim()));
    await sleep(ENTER_GUARD_MS);
  }

  /** A new conversation in the same process. */
  async fresh(): Promise<void> {
    await this.command(this.#vendor.screen.fresh);
    await this.ready();
  }

  /** Types a command of the program's own, and sends it. */
  async command(line: string): Promise<void> {
    await this.#send(() => this.#pane.type(line));
  }

  /** Answers a question that is on the screen. */
  async press(keys: readonly string[]): Promise<void> {
    await this.#pane.keys(...keys);
  }

  /** SIGKILL to the program and to all it started: several leave their real work to a child that survives them. */
  async kill(): Promise<void> {
    const killed = await killMarked(MARK, this.#mark);
    if (!this.#lost) await this.#pane.kill();
    if (this.#vendor.countsZombiesAsLive) await untilReaped(killed);
  }

  /** The terminal alone goes, as when its window is closed or its machine is left: the kernel hangs up. */
  async lose(): Promise<void> {
    this.#lost = true;
    await this.#pane.kill();
  }

  /** The terminal goes, and the program has the time it takes to leave in order. */
  async leave(): Promise<void> {
    await this.lose();
    await untilGone(MARK, this.#mark);
    await this.kill();
  }

  /** Never blind: an Enter that meets a dialog answers it, and one that comes too early is lost. */
  async #send(type: () => Promise<void>): Promise<void> {
    await this.ready();
    await type();
    await this.until("what was typed", (screen) => !this.#vendor.screen.empty.test(screen));
    await sleep(ENTER_GUARD_MS);
    this.enteredAtMs = performance.now();
    await this.#pane.keys("Enter");
  }
}
