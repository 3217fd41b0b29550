import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Home } from "../support/home.ts";
import type { Pane } from "./tmux.ts";

export interface Program {
  words: string[];
  /** The program's name in /proc. */
  command: RegExp;
  /** The screen when the program waits for keys; null when it shows nothing. */
  ready: RegExp | null;
  /** The same after `fg`, where that differs. */
  back?: RegExp;
  /** Ctrl-C, and what it changes on the screen. Keys before that may be thrown away with what was typed ahead. */
  interrupt?: (pane: Pane) => Promise<void>;
  /** Shows that keys reach it. */
  useIt: (pane: Pane) => Promise<void>;
  /** Shows that it knows the terminal's width. */
  tellsWidth?: (pane: Pane, columns: number) => Promise<void>;
  quit: (pane: Pane) => Promise<void>;
  /** The program's exit codes when the terminal goes away: one that reads may see the end of its input before the signal. */
  hungUp: number[];
}

export type ProgramName = "sleep" | "vim" | "less" | "bash" | "raw";

export const PROGRAMS: Readonly<Record<ProgramName, Program>> = {
  sleep: {
    words: ["sleep", "1000"],
    command: /^sleep$/,
    ready: null,
    useIt: async () => undefined,
    quit: (pane) => pane.keys("C-c"),
    hungUp: [129],
  },
  vim: {
    // The mouse is on so that a killed vim leaves something to put right. It may not ask the terminal anything: the
    // answer to a vim that was killed meanwhile is typed into the shell.
    words: [
      "vim",
      "-u",
      "NONE",
      "-i",
      "NONE",
      "-N",
      "-n",
      "--cmd",
      "set t_RV= t_u7= t_RB= t_RF=",
      "-c",
      "set mouse=a ttymouse=sgr",
      "text",
    ],
    command: /^vim/,
    ready: /^first line[^]*"text" .*200L/,
    back: /^first line/,
    interrupt: (pane) => interrupt(pane, /^Type  :qa/m),
    async useIt(pane) {
      await pane.type("Otyped again");
      await pane.shows(/^typed again/m);
      await pane.keys("Escape", "u");
    },
    // In the status line, because a late redraw wipes what `:set columns?` answered.
    async tellsWidth(pane, columns) {
      await pane.line(":set laststatus=2 statusline=width=%{&columns}");
      await pane.shows(new RegExp(`width=${columns}\\b`));
    },
    quit: (pane) => pane.line(":q!"),
    hungUp: [129, 1],
  },
  less: {
    words: ["less", "text"],
    command: /^less$/,
    ready: /^first line[^]*\n(text|:)/,
    interrupt: (pane) => interrupt(pane, /^:/m),
    async useIt(pane) {
      await pane.keys("G");
      await pane.shows(/^last line/m);
    },
    async tellsWidth(pane, columns) {
      // Redrawn from the same top line, in 20 rows: a key before that may be thrown away.
      await pane.shows(/^line 193\n:/m);
      await pane.keys("g");
      // -J joins what the terminal wrapped, and less wraps by itself: a row is as wide as less believes.
      await pane.shows(new RegExp(`^ruler-{${columns - 5}}$`, "m"));
    },
    quit: (pane) => pane.keys("q"),
    hungUp: [129, 1],
  },
  bash: {
    words: ["env", "PS1=inner ", "PROMPT_COMMAND=", "bash", "--norc", "--noprofile", "-i"],
    command: /^bash$/,
    ready: /^inner $/m,
    async interrupt(pane) {
      await pane.keys("C-c");
      await pane.shows(/^inner \^C/m);
      // readline misses a signal between its prompt and its read; the next key brings it to mind.
      await pane.keys("Enter");
      await pane.shows(/^inner \^C\ninner/m);
    },
    async useIt(pane) {
      await pane.line("echo ag''ain");
      await pane.shows(/^again$/m);
    },
    async tellsWidth(pane, columns) {
      await pane.line("tput cols");
      await pane.shows(new RegExp(`^${columns}$`, "m"));
    },
    quit: (pane) => pane.line("exit 5"),
    hungUp: [129, 0],
  },
  raw: {
    words: [process.execPath, resolve(import.meta.dirname, "raw-program.ts")],
    // Node renames its main thread.
    command: /^(node|MainThread)$/,
    ready: /^raw program/m,
    interrupt: (pane) => interrupt(pane, /^key 3$/m),
    async useIt(pane) {
      await pane.keys("k");
      await pane.shows(/^key 107$/m);
    },
    tellsWidth: async (pane, columns) => void (await pane.shows(new RegExp(`^columns ${columns}$`, "m"))),
    quit: (pane) => pane.keys("q"),
    hungUp: [129, 1, 0],
  },
};

async function interrupt(pane: Pane, seen: RegExp): Promise<void> {
  await pane.keys("C-c");
  await pane.shows(seen);
}

/** Writes the file that vim and less show. */
export function writeText(home: Home): void {
  const lines = [
    "first line",
    `ruler${"-".repeat(400)}`,
    ...Array.from({ length: 197 }, (_, at) => `line ${at}`),
    "last line",
  ];
  writeFileSync(join(home.project, "text"), `${lines.join("\n")}\n`);
}
