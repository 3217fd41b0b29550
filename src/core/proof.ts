import type { Proved, Sign } from "../protocol/records/conversation.ts";

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
  /** The first conversation that was seen open was another one: the binding stays, and the run is marked. */
  | { kind: "mismatch" }
  /** The agent changed conversation (`/clear`, `/new`, a resume inside the program), and the worker follows it. */
  | { kind: "rotated" };

/** A sign that a program makes only when it has the conversation open. */
export type OpenSign = Sign & { means: "open" };

/**
 * Tells whether a sign says where the process is. An echo of the command line does not: it proves nothing, neither that the program
 * is in the bound conversation nor that it is in another one, and must not hide that the program opens another one. This is the only
 * place that decides it; whatever judges a sign takes open ones only.
 */
export function isOpen<S extends Pick<Sign, "means">>(sign: S): sign is S & Pick<OpenSign, "means"> {
  return sign.means === "open";
}

/**
 * Judges a process that shows the bound id in another place than the bound conversation's: what it has open there is a copy, however
 * it shows that.
 */
export function observeStray({ proved }: ProofState): ProofFinding {
  return { kind: proved === false ? "known" : "mismatch" };
}

/**
 * Judges one open sign of a run's own vendor process. Only a process that was seen with the bound conversation open can rotate: one
 * that opens another conversation first was never in the bound one, and must not take the worker with it. Nor must one that was
 * started behind it in the same run, by a program in front.
 */
export function observe(
  state: ProofState,
  { session, isSuccessors = false }: Pick<OpenSign, "session" | "means" | "isSuccessors">,
): ProofFinding {
  if (session === state.session) return { kind: state.proved === true ? "known" : "proved" };
  if (state.proved === true) return { kind: isSuccessors ? "mismatch" : "rotated" };
  return { kind: state.proved === false ? "known" : "mismatch" };
}

/**
 * Tells whether a sign of another conversation has to be confirmed first. A program may open another conversation on its way
 * to the one that it was told to open, so only one that stays elsewhere for `confirmMs` is in the wrong one. An adopted run is
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
