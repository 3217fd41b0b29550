import { readFileSync } from "node:fs";
import { join } from "node:path";
import { BIN, type Home } from "../support/home.ts";
import { until, type Pane, type Tmux } from "./tmux.ts";

let shells = 0;

/**
 * An interactive bash in a pane, with job control. Its prompt tells how many commands came before and the last exit
 * code, so every end of a command is something to wait for.
 */
export class Shell {
  readonly pane: Pane;
  readonly #modesFile: string;
  #prompts = 0;

  private constructor(pane: Pane, modesFile: string) {
    this.pane = pane;
    this.#modesFile = modesFile;
  }

  static async start(tmux: Tmux, home: Home, env: Record<string, string> = {}): Promise<Shell> {
    const modesFile = join(home.dir, `modes-${++shells}`);
    const pane = await tmux.pane(["bash", "--norc", "--noprofile", "-i"], {
      HISTFILE: "",
      INPUTRC: "/dev/null",
      P: BIN,
      PS1: String.raw`<\#:$?> `,
      // Before readline takes the terminal: what the last command left.
      PROMPT_COMMAND: `stty -g > ${modesFile}`,
      ...env,
    });
    const shell = new Shell(pane, modesFile);
    await shell.status();
    return shell;
  }

  /** Waits for the next prompt; the exit code in it. */
  async status(): Promise<number> {
    const look = async (): Promise<number | null> => {
      const prompts = [...(await this.pane.screen()).matchAll(/<(\d+):(\d+)>/g)];
      const [, count, code] = prompts.findLast(([, number]) => Number(number) > this.#prompts) ?? [];
      if (count === undefined) return null;
      this.#prompts = Number(count);
      return Number(code);
    };
    return until("a prompt", look, () => this.pane.screen());
  }

  async run(line: string): Promise<number> {
    await this.pane.line(line);
    return this.status();
  }

  /** The terminal's settings when the last prompt was printed. */
  settings(): string {
    return readFileSync(this.#modesFile, "utf8").trim();
  }

  /** Typed keys are seen, and obeyed. */
  async echoes(): Promise<void> {
    await this.pane.line("echo us''able");
    await this.pane.shows(/echo us''able\s+usable$/m);
    await this.status();
  }
}
