import type { AwakeTimer } from "./awake-timer.ts";

/**
 * The lease of one worker's name. Generations only rise: each claim and each takeover makes a new one, and a writer that
 * shows an older one is stale. The caller finds out whether the holder is alive and passes it in.
 */
export type LeaseState =
  | { readonly phase: "free"; readonly generation: number }
  | { readonly phase: "held"; readonly generation: number; readonly run: string }
  /** The holder is fenced: the generation has moved on, the old run is being stopped, and nobody else may claim yet. */
  | { readonly phase: "displacing"; readonly generation: number; readonly run: string };

export type ClaimDecision =
  | { granted: true; lease: LeaseState & { phase: "held" }; replaced: string | null }
  | { granted: false; because: "held" | "displacing"; run: string };

export function claimLease(lease: LeaseState, run: string, holderAlive: boolean): ClaimDecision {
  if (lease.phase !== "free" && holderAlive) {
    return { granted: false, because: lease.phase, run: lease.run };
  }
  return {
    granted: true,
    lease: { phase: "held", generation: lease.generation + 1, run },
    replaced: lease.phase === "free" ? null : lease.run,
  };
}

/** Fences the holder: its generation is stale from now on, while its process may still be running. */
export function displaceLease(lease: LeaseState): LeaseState {
  if (lease.phase !== "held") return lease;
  return { phase: "displacing", generation: lease.generation + 1, run: lease.run };
}

/** Frees the lease of a run whose processes are gone. A run that no longer holds the lease changes nothing. */
export function endLease(lease: LeaseState, run: string): LeaseState {
  if (lease.phase === "free" || lease.run !== run) return lease;
  return { phase: "free", generation: lease.generation };
}

export type LeaseStanding = "current" | "displaced" | "stale";

/** Tells whether a writer that shows this run and generation may still write: only if it is current. */
export function leaseStanding(lease: LeaseState, run: string, generation: number): LeaseStanding {
  if (lease.phase === "held" && lease.run === run && lease.generation === generation) return "current";
  return lease.phase === "displacing" && lease.run === run ? "displaced" : "stale";
}

/**
 * Tells whether the lease of a library client has expired: its connection is gone while its process lives. Only such a lease
 * expires by time, after two waits of awake time; the second wait is for laptops that wake up to a stalled machine.
 */
export function hasClientLeaseExpired({ awakeMs }: AwakeTimer, waitMs: number): boolean {
  return awakeMs >= 2 * waitMs;
}
