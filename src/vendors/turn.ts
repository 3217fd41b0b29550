import type { Variables } from "../protocol/records/conversation.ts";

/**
 * The turn facet says how the program makes one turn without a terminal: it reads the prompt from its stdin, prints what it does to its
 * stdout, and ends. It is absent for a program that has no such mode.
 */
export interface TurnFacet {
  /**
   * Returns the arguments of a turn: the user's own, without a prompt and without what only a terminal needs, with those that make the
   * program print in a form that `reader` understands. They go through the launch facet's `plan` like a user's own headless ones.
   */
  args(args: readonly string[], runDir: string): string[];
  /** Variables of a turn: those that keep the program from taking a message for a command of its own. A user's own value wins. */
  readonly variables?: Variables;
  /** Makes the reader of one turn's output. */
  reader(): TurnReader;
  /** Returns the first of the arguments that lets the program act without asking anybody, or words for a program that never asks; else null. */
  skipsPermissions(args: readonly string[]): string | null;
  /** Says what the program may do in a turn, where nobody can be asked, with these arguments; completes "may: ". */
  may(args: readonly string[]): string;
}

/** Reads what one turn prints, as it comes. */
export interface TurnReader {
  /** Takes the next part of the stdout, cut anywhere, and returns what it shows the agent doing. */
  push(text: string): TurnProgress[];
  /**
   * Returns what came of the turn; null while the program has not said. At its end it is asked once more, with the exit code and the last
   * part of its stderr, and has to answer: an exit code of 0 is no answer.
   */
  outcome(): TurnOutcome | null;
  outcomeAtEnd(exit: number | null, stderr: string): TurnOutcome;
  /** The program has shown a step of the turn, so that saying the prompt again could do something twice. */
  readonly hasBegun: boolean;
}

export type TurnProgress = { kind: "tool"; name: string } | { kind: "text"; text: string };

export type TurnOutcome =
  | { kind: "answer"; text: string; session: string | null }
  /** `blockedBy`: no turn can succeed before somebody has logged in, or a limit has passed. */
  | { kind: "failed"; why: string; blockedBy: "login" | "limit" | null; session: string | null };
