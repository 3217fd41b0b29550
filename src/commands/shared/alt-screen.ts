import { write } from "./output.ts";

// The title is put away and brought back, where the terminal keeps more than one.
const ENTER = "\u001b[?1049h\u001b[22;2t\u001b[?25l\u001b[?7l";
const LEAVE = "\u001b[?7h\u001b[?25h\u001b[23;2t\u001b[?1049l";
/** Synchronized output: terminals that support it show a frame at once, the others ignore it. */
const [BEGIN, END] = ["\u001b[?2026h", "\u001b[?2026l"];

/** The terminal's alternate screen, repainted in place; the main screen comes back untouched, however the command ends. */
export class AltScreen {
  #frame: () => string = () => "";
  #entered = false;
  #title = "";

  constructor() {
    process.on("SIGINT", () => this.#end(130));
    process.on("SIGTERM", () => this.#end(143));
    process.on("SIGTSTP", () => {
      this.leave();
      process.kill(process.pid, "SIGSTOP");
    });
    process.on("SIGCONT", () => this.show(this.#frame));
    process.stdout.on("resize", () => this.show(this.#frame));
  }

  /** Paints a frame; `frame` is called again when the terminal is resized or the program is resumed. */
  show(frame: () => string, title = this.#title): void {
    this.#frame = frame;
    const isTitled = this.#entered && title === this.#title;
    this.#title = title;
    const rows = process.stdout.rows || Infinity;
    const lines = frame().split("\n");
    const shown = lines.length <= rows ? lines : [...lines.slice(0, rows - 1), `… ${lines.length - rows + 1} more`];
    const painted = shown.map((line) => `${line}\u001b[K`).join("\r\n");
    const titled = isTitled ? "" : `\u001b]2;${title}\u0007`;
    write(1, `${this.#entered ? "" : ENTER}${titled}${BEGIN}\u001b[H${painted}\u001b[J${END}`);
    this.#entered = true;
  }

  leave(): void {
    if (this.#entered) write(1, LEAVE);
    this.#entered = false;
  }

  #end(code: number): void {
    this.leave();
    process.exit(code);
  }
}
