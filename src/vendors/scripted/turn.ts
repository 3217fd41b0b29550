import { textOf } from "../../util/fields.ts";
import { hasOption, wordSet } from "../shared/arguments.ts";
import { blockedExitOn, type BlockedExitForms } from "../shared/blocked-exit.ts";
import { lastWordsOf, OutputLines } from "../shared/output-lines.ts";
import { turnOptions } from "../shared/turn-arguments.ts";
import type { TurnFacet, TurnOutcome, TurnProgress, TurnReader } from "../turn.ts";
import { SCRIPTED_ARGUMENTS } from "./arguments.ts";

/** The scripted agent reads all of its stdin as one prompt, and prints an event a line with `--json`. */
export function scriptedTurn(blockedExit: BlockedExitForms): TurnFacet {
  return {
    args: (args) => ["--print", "--json", ...turnOptions(args, SCRIPTED_ARGUMENTS, LEFT_OUT)],
    reader: () => new ScriptedTurn(blockedExit),
    // It has no tools, so the option changes nothing: it is there for what perdure makes of such options.
    skipsPermissions: (args) => (hasOption(args, SCRIPTED_ARGUMENTS, "--unasked") ? "--unasked" : null),
    may: () => "repeat what it was told; it has no tools",
  };
}

const LEFT_OUT = wordSet("-p --print --json");

class ScriptedTurn implements TurnReader {
  readonly #lines = new OutputLines();
  readonly #blockedExit: BlockedExitForms;
  #session: string | null = null;
  #answer: string | null = null;
  #ended = false;

  constructor(blockedExit: BlockedExitForms) {
    this.#blockedExit = blockedExit;
  }

  get hasBegun(): boolean {
    return this.#answer !== null;
  }

  push(text: string): TurnProgress[] {
    return this.#lines.push(text).flatMap((line) => this.#read(line));
  }

  outcome(): TurnOutcome | null {
    if (!this.#ended || this.#answer === null) return null;
    return { kind: "answer", text: this.#answer, session: this.#session };
  }

  outcomeAtEnd(exit: number | null, stderr: string): TurnOutcome {
    const answered = exit === 0 ? this.outcome() : null;
    if (answered) return answered;
    const blocked = blockedExitOn(stderr, { blockedExit: this.#blockedExit });
    const why = blocked?.line ?? lastWordsOf(stderr, exit);
    return { kind: "failed", why, blockedBy: blocked?.kind ?? null, session: this.#session };
  }

  #read(line: Readonly<Record<string, unknown>>): TurnProgress[] {
    this.#session = textOf(line.session) ?? this.#session;
    if (line.type === "end") this.#ended = true;
    if (line.type === "tool") return [{ kind: "tool", name: textOf(line.name) ?? "tool" }];
    const text = line.type === "answer" ? textOf(line.text) : null;
    if (text === null) return [];
    this.#answer = text;
    return [{ kind: "text", text }];
  }
}
