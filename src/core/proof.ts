import type { Proved } from "../protocol/records/conversation.ts";

/** The conversation that a run should be in, and whether it was proved to be in it. */
export interface ProofState {
  /** The id of the conversation that the worker is bound to. */
  session: string;
  proved: Proved;
}

export type ProofFinding =
  /** The sign adds nothing to what is known. */
  | { kind: "known" }
  | { kind: "proved" }
  /** The first sign was of another conversation: the binding stays, and the run is marked. */
  | { kind: "mismatch" }
  /** The agent changed conversation (`/clear`, `/new`, a resume inside the program), and the worker follows it. */
  | { kind: "rotated" };

/**
 * Judges one sign of a run's own vendor process. Only a process that was proved to be in the bound conversation can rotate:
 * one that comes up in another conversation was never in the bound one, and must not take the worker with it.
 */
export function observe(state: ProofState, session: string): ProofFinding {
  if (session === state.session) return { kind: state.proved === true ? "known" : "proved" };
  if (state.proved === true) return { kind: "rotated" };
  return { kind: state.proved === false ? "known" : "mismatch" };
}

/**
 * Tells whether a sign of another conversation has to be confirmed first. A program may register before it has opened the
 * conversation that it was told to open, so only one that stays elsewhere for `confirmMs` is in the wrong one. An adopted run is
 * never wrong: it may have rotated while no daemon was there.
 */
export function awaitsConfirmation(
  proved: Proved,
  sinceMs: number,
  nowMs: number,
  { adopted, confirmMs }: { adopted: boolean; confirmMs: number },
): boolean {
  if (proved === true) return false;
  return proved === false || adopted || nowMs - sinceMs < confirmMs;
}
