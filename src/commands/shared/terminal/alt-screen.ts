import { KeyDecoder } from "./keys.ts";
import { write } from "../output.ts";

// The title is put away and brought back, where the terminal keeps more than one.
const ENTER = "\u001b[?1049h\u001b[22;2t\u001b[?25l\u001b[?7l";
const LEAVE = "\u001b[?7h\u001b[?25h\u001b[23;2t\u001b[?1049l";
/** Bracketed paste, by which a paste is told from keys. */
const [MARK_PASTES, LEAVE_PASTES] = ["\u001b[?2004h", "\u001b[?2004l"];
/** Synchronized output: terminals that support it show a frame at once, the others ignore it. */
const [BEGIN, END] = ["\u001b[?2026h", "\u001b[?2026l"];

/**
 * The terminal's alternate screen, repainted in place; the main screen and the terminal's modes come back untouched, however the
 * command ends. With `onKey` it reads keys as they are typed.
 */
export class AltScreen {
  #frame: () => string = () => "";
  #entered = false;
  /** Another program has the terminal: nothing is painted, and no key is read. */
  #lent = false;
  readonly #onKey: ((key: string) => void) | null;
  readonly #keys = new KeyDecoder();
  readonly #undo: (() => void)[] = [];
  #title = "";
  /** Takes the keys while one of some is waited for. */
  #awaited: ((key: string) => void) | null = null;

  constructor(onKey: ((key: string) => void) | null = null) {
    this.#onKey = onKey;
    this.#on("SIGINT", () => this.#end(130));
    this.#on("SIGTERM", () => this.#end(143));
    this.#on("SIGHUP", () => this.#end(129));
    this.#on("SIGTSTP", () => this.#suspend());
    this.#on("SIGCONT", () => this.#repaint());
    // Whatever ends the process, an error that nobody caught included.
    this.#on("exit", () => this.leave());
    const onResize = (): void => this.#repaint();
    process.stdout.on("resize", onResize);
    this.#undo.push(() => process.stdout.off("resize", onResize));
    if (onKey !== null) this.#listen();
  }

  /** Paints a frame; `frame` is called again when the terminal is resized or the program is resumed. */
  show(frame: () => string, title = this.#title): void {
    this.#frame = frame;
    if (this.#lent) return;
    const isTitled = this.#entered && title === this.#title;
    this.#title = title;
    if (!this.#entered) this.#enter();
    const rows = process.stdout.rows || Infinity;
    const lines = frame().split("\n");
    const shown = lines.length <= rows ? lines : [...lines.slice(0, rows - 1), `… ${lines.length - rows + 1} more`];
    const painted = shown.map((line) => `${line}\u001b[K`).join("\r\n");
    const titled = isTitled ? "" : `\u001b]2;${title}\u0007`;
    write(1, `${titled}${BEGIN}\u001b[H${painted}\u001b[J${END}`);
  }

  /** Lends the terminal to something else, as it was found, and takes it back when that is done. */
  async lend<T>(use: () => Promise<T>): Promise<T> {
    this.leave();
    this.#lent = true;
    try {
      return await use();
    } finally {
      this.#lent = false;
      this.show(this.#frame);
    }
  }

  /** Lends the screen itself, emptied, or its last line: what was on the main screen stays there, and stays hidden. */
  async lendHere<T>(part: "screen" | "line", use: () => Promise<T>): Promise<T> {
    const cleared = part === "screen" ? "\u001b[2J\u001b[H" : `\u001b[${process.stdout.rows || 1};1H\u001b[K`;
    this.#setRaw(false);
    this.#lent = true;
    write(1, `${LEAVE_PASTES}\u001b[?7h\u001b[?25h${cleared}`);
    try {
      return await use();
    } finally {
      this.#lent = false;
      if (this.#entered) {
        write(1, `\u001b[?25l\u001b[?7l${MARK_PASTES}`);
        this.#setRaw(true);
      }
      this.show(this.#frame);
    }
  }

  /** Waits, on the screen that is lent, for one of these keys; what else is typed before it and right behind it is dropped. */
  async pressed(keys: readonly string[]): Promise<string> {
    this.#setRaw(true);
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#awaited = (key) => {
      if (!keys.includes(key)) return;
      this.#awaited = null;
      resolve(key);
    };
    return promise;
  }

  leave(): void {
    if (!this.#entered) return;
    this.#entered = false;
    this.#setRaw(false);
    write(1, `${this.#onKey === null ? "" : LEAVE_PASTES}${LEAVE}`);
  }

  /** Leaves the screen for good: signals do again what they did before. */
  close(): void {
    this.leave();
    for (const undo of this.#undo.splice(0)) undo();
  }

  #enter(): void {
    this.#entered = true;
    write(1, `${ENTER}${this.#onKey === null ? "" : MARK_PASTES}`);
    this.#setRaw(true);
  }

  #setRaw(raw: boolean): void {
    if (this.#onKey === null) return;
    process.stdin.setRawMode(raw);
    if (raw) process.stdin.resume();
    else process.stdin.pause();
  }

  #listen(): void {
    const onData = (text: string): void => {
      for (const key of this.#keys.keysIn(text)) this.#press(key);
    };
    const onEnd = (): void => this.#end(129);
    process.stdin.setEncoding("utf8").on("data", onData).on("end", onEnd);
    this.#undo.push(() => process.stdin.off("data", onData).off("end", onEnd).pause());
  }

  #press(key: string): void {
    if (this.#lent && this.#awaited === null) return;
    if (this.#awaited !== null && key !== "ctrl-c") this.#awaited(key);
    else if (key === "ctrl-c") this.#end(130);
    else if (key === "ctrl-z") process.kill(process.pid, "SIGTSTP");
    else if (key === "ctrl-l") this.#repaint();
    else this.#onKey?.(key);
  }

  #repaint(): void {
    if (!this.#lent) this.show(this.#frame);
  }

  #suspend(): void {
    this.leave();
    process.kill(process.pid, "SIGSTOP");
  }

  #end(code: number): void {
    this.leave();
    process.exit(code);
  }

  #on(event: "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGTSTP" | "SIGCONT" | "exit", listener: () => void): void {
    process.on(event, listener);
    this.#undo.push(() => process.off(event, listener));
  }
}
