import { fstatSync, statSync, writeSync } from "node:fs";
import type { Environment } from "../../util/environment.ts";
import { isErrno } from "../../state/files.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";

/** A verb's output: results on stdout, notes and errors on stderr; with `--json` one document on stdout. */
export interface Output {
  json: boolean;
  /** Prints the result: one JSON document with `--json`, else the text. */
  result(value: object, text: () => string): void;
  /** Prints one line of a stream. */
  item(value: object, text: () => string): void;
  /** Prints a note for people; silent with `--json`. */
  note(text: string): void;
  error(error: PerdureError): void;
  readonly paint: Paint;
  /** The width of the terminal on stdout; infinite where stdout is no terminal. */
  readonly columns: number;
}

export type Paint = Readonly<Record<"bold" | "dim" | "green" | "yellow" | "red" | "cyan", (text: string) => string>>;

export function createOutput(json: boolean, env: Environment): Output {
  // Decided at the first use: asking loads Node's tty module, 3 ms that `whoami` never needs.
  const usesColour = (fd: number): boolean =>
    !json && !env.NO_COLOR && (isColourForced(env) || (env.TERM !== "dumb" && isTerminal(fd)));
  return {
    json,
    get paint() {
      return createPaint(usesColour(1));
    },
    get columns() {
      return (isTerminal(1) && process.stdout.columns) || Infinity;
    },
    result: (value, text) => write(1, json ? jsonDocument(value) : withNewline(text())),
    item: (value, text) => write(1, json ? `${escapeJson(JSON.stringify(value))}\n` : withNewline(text())),
    note: (text) => {
      if (!json) write(2, withNewline(text));
    },
    error: (error) => {
      // Where standard output takes nothing, the error is told to people after all.
      if (json && error.details?.outputFailed !== true && wrote(1, jsonDocument({ error: error.toJSON() }))) return;
      const paint = createPaint(usesColour(2));
      const hint = error.hint === null ? "" : `\n  ${paint.dim("→")} ${printable(error.hint)}`;
      write(2, `${paint.red("perdure:")} ${printable(error.message)}${hint}\n`);
    },
  };
}

export function isTerminal(fd: number): boolean {
  return mayBeTerminal(fd) && process.getBuiltinModule("node:tty").isatty(fd);
}

/** Tells a pipe, a file and the null device from what may be a terminal, without Node's module for those. */
function mayBeTerminal(fd: number): boolean {
  try {
    const open = fstatSync(fd);
    return open.isCharacterDevice() && open.rdev !== statSync("/dev/null", { throwIfNoEntry: false })?.rdev;
  } catch (error) {
    if (isErrno(error, "EBADF")) return false;
    throw error;
  }
}

/** Says whether a person at a terminal can be shown a screen that reads keys; an agent's terminal has nobody who presses any. */
export function hasKeys({ json }: Pick<Output, "json">): boolean {
  const { TERM, PERDURE_RUN: run } = process.env;
  return !json && !run && TERM !== undefined && TERM !== "dumb" && isTerminal(0) && isTerminal(1);
}

/** Says whether to colour output into a pipe as well, for a program that shows it to a person. */
function isColourForced({ FORCE_COLOR: value }: Environment): boolean {
  return value !== undefined && value !== "" && value !== "0";
}

/**
 * Escapes characters that control a terminal, and those that nobody sees: names, paths and commands come from files and other people.
 * Joiners and variation selectors stay, because emoji and some scripts are written with them.
 */
export function printable(text: string): string {
  return text.replace(CONTROL_CHARACTERS, escaped);
}

// Ranges, because Unicode's tables take half a millisecond to load.
const CONTROL_CHARACTERS =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class -- such characters are what this is about
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e00ff}]/gu;

/** Writes a character as JSON or, beyond its four digits, as JavaScript would. */
export function escaped(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
}

/** Leaves text as it is for scripts, and escapes it where stdout is a terminal. */
export function rawOutput(text: string): string {
  const shown = printable(text);
  return shown !== text && isTerminal(1) ? shown : text;
}

/** Escapes the control characters that JSON leaves alone; in a JSON document they only ever occur inside a string. */
function escapeJson(json: string): string {
  return json.replace(/[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, escaped);
}

function jsonDocument(value: object): string {
  return `${escapeJson(JSON.stringify({ schemaVersion: 1, ...value }, null, 2))}\n`;
}

function withNewline(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** Writes synchronously, without process.stdout: touching that changes the terminal's flags for the program that `run` executes. */
export function write(fd: number, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if (isErrno(error, "EAGAIN")) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
        continue;
      }
      if (fd === 2) return; // nobody reads the notes; the command continues
      if (isErrno(error, "EPIPE")) process.exit(0); // the reader (head, less) has closed the pipe
      throw outputError(error);
    }
  }
}

function wrote(fd: number, text: string): boolean {
  try {
    write(fd, text);
    return true;
  } catch (error) {
    if (isPerdureError(error)) return false;
    throw error;
  }
}

/** Makes the error that stdout takes nothing. The verb may have done its work, so the error must not say to try again. */
function outputError(error: unknown): PerdureError {
  const reason = error instanceof Error ? error.message.replace(/, write$/, "") : String(error);
  return new PerdureError("internal", `Standard output could not be written (${reason}); nothing is undone for that.`, {
    hint: "perdure events --limit 5 shows what was done",
    details: { outputFailed: true },
    cause: error,
  });
}

function createPaint(on: boolean): Paint {
  const code =
    (open: number, close: number) =>
    (text: string): string =>
      on ? `\u001b[${open}m${text}\u001b[${close}m` : text;
  return {
    bold: code(1, 22),
    dim: code(2, 22),
    red: code(31, 39),
    green: code(32, 39),
    yellow: code(33, 39),
    cyan: code(36, 39),
  };
}
