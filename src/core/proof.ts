import type { Proved } from "../protocol/records/conversation.ts";

/** What a run is known to be in. */
export interface ProofState {
  /** The session the worker is bound to. */
  session: string;
  proved: Proved;
}

export type ProofFinding =
  /** Nothing that was not known. */
  | { kind: "known" }
  | { kind: "proved" }
  /** The first sign was of another conversation: the bound one stays, the run is marked. */
  | { kind: "mismatch" }
  /** `/clear`, `/new` or a resume inside the program: the worker goes along. */
  | { kind: "rotated" };

/**
 * One sign of a run's own vendor process. Only a process that was seen where it should be can rotate: what comes up in
 * another conversation was never in ours, and must not carry the worker away.
 */
export function observe(standing: ProofState, session: string): ProofFinding {
  if (session === standing.session) return { kind: standing.proved === true ? "known" : "proved" };
  if (standing.proved === true) return { kind: "rotated" };
  return { kind: standing.proved === false ? "known" : "mismatch" };
}
