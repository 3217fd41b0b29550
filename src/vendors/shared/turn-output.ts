import { WORDS_LENGTH_MAX } from "../../limits/index.ts";
import type { TurnFacet, TurnOutcome, TurnProgress, TurnReader } from "../turn.ts";
import { blockedExitOn, type BlockedExitForms } from "./blocked-exit.ts";
import { kindOfFailure, type FailedTurn } from "./failed-turn.ts";
import { lastWordsOf, OutputLines, type PrintedLine } from "./output-lines.ts";

export type { PrintedLine } from "./output-lines.ts";

/** The meaning of one line of a program's output for its turn. */
export interface TurnLine {
  /** The conversation that the line belongs to. */
  session?: string | null;
  /** The steps that the line shows. */
  progress?: readonly TurnProgress[];
  /** The words that are the agent's answer, unless it calls a tool or says something else later. */
  answer?: string | null;
  /** Words of the answer that go on with the earlier ones of the same part; those of another part stand for all before them. */
  more?: { text: string; of: string } | null;
  /** Why the turn fails, unless the agent goes on after that. */
  failed?: FailedTurn | null;
  /** The program says that the turn is over; or that it is unless more comes, which only its end tells. */
  ended?: boolean | "unless more comes";
}

/**
 * Makes the reader of a program that prints a JSON object a line; `read` understands one. `usual` are the lines that stand on its stderr
 * at every start, and so are no reason for anything.
 */
export function readsLines(
  read: (line: PrintedLine) => TurnLine,
  blockedExit?: BlockedExitForms,
  usual?: RegExp,
): Pick<TurnFacet, "reader"> {
  return { reader: () => new LinesReader(read, blockedExit, usual) };
}

class LinesReader implements TurnReader {
  readonly #lines = new OutputLines();
  readonly #read: (line: PrintedLine) => TurnLine;
  readonly #screen: { blockedExit?: BlockedExitForms };
  readonly #usual: RegExp | undefined;
  #session: string | null = null;
  #answer: string | null = null;
  #part: string | null = null;
  #failed: FailedTurn | null = null;
  #hasEnded: boolean | "unless more comes" = false;
  #hasBegun = false;

  constructor(read: (line: PrintedLine) => TurnLine, blockedExit?: BlockedExitForms, usual?: RegExp) {
    this.#read = read;
    this.#screen = blockedExit ? { blockedExit } : {};
    this.#usual = usual;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  push(text: string): TurnProgress[] {
    return this.#lines.push(text).flatMap((line) => this.#take(line));
  }

  outcome(): TurnOutcome | null {
    if (this.#hasEnded !== true) return null;
    if (this.#failed === null && this.#answer !== null && this.#answer.trim() !== "") {
      return { kind: "answer", text: this.#answer, session: this.#session };
    }
    return this.#failure(this.#failed?.words ?? "it ended without an answer");
  }

  outcomeAtEnd(exit: number | null, stderr: string): TurnOutcome {
    for (const line of this.#lines.end()) this.#take(line);
    if (this.#hasEnded === "unless more comes") this.#hasEnded = true;
    const told = this.outcome();
    if (told) return told;
    // Behind the line that says why, some print what can be done about it.
    const blocked = stderr.split("\n").find((line) => blockedExitOn(line, this.#screen) !== null);
    return this.#failure(this.#failed?.words ?? blocked ?? lastWordsOf(stderr, exit, this.#usual));
  }

  #failure(why: string): TurnOutcome {
    const kind = this.#failed ? kindOfFailure(this.#failed) : null;
    const blocked = kind ?? blockedExitOn(why, this.#screen)?.kind ?? null;
    return { kind: "failed", why: onOneLine(why), blockedBy: blocked, session: this.#session };
  }

  #goOn({ text, of }: { text: string; of: string }): void {
    this.#answer = of === this.#part && this.#answer !== null ? this.#answer + text : text;
    this.#part = of;
  }

  #take(object: PrintedLine): readonly TurnProgress[] {
    const { session, progress = [], answer, more, failed, ended } = this.#read(object);
    this.#session = session ?? this.#session;
    if (progress.length > 0) {
      this.#hasBegun = true;
      this.#failed = null;
      this.#hasEnded = false;
    }
    if (progress.some(({ kind }) => kind === "tool")) this.#answer = null;
    if (more) this.#goOn(more);
    if (typeof answer === "string") this.#failed = null;
    this.#answer = answer ?? this.#answer;
    // A reason that was given before the end is better than none.
    if (failed) this.#failed = failed.words === null ? (this.#failed ?? failed) : failed;
    this.#hasEnded = ended ?? this.#hasEnded;
    return progress;
  }
}

function onOneLine(words: string): string {
  return words.replaceAll(/\s+/g, " ").trim().slice(0, WORDS_LENGTH_MAX);
}
