/**
 * The lease of one worker's name. Generations only rise: each claim and each takeover gives a new one, and a
 * writer that shows an older one is stale. Whether a holder lives is found out by the caller and passed in.
 */
export type LeaseState =
  | { phase: "free"; generation: number }
  | { phase: "held"; generation: number; run: string }
  /** Fenced: the generation has moved on, the old run is being stopped, nobody else may claim yet. */
  | { phase: "displacing"; generation: number; run: string };

export type ClaimDecision =
  | { granted: true; lease: LeaseState & { phase: "held" }; replaced: string | null }
  | { granted: false; because: "held" | "displacing"; run: string };

export function claim(lease: LeaseState, run: string, holderAlive: boolean): ClaimDecision {
  if (lease.phase !== "free" && holderAlive) {
    return { granted: false, because: lease.phase, run: lease.run };
  }
  return {
    granted: true,
    lease: { phase: "held", generation: lease.generation + 1, run },
    replaced: lease.phase === "free" ? null : lease.run,
  };
}

/** Fences the holder: from here on its generation is stale, while its process may still be running. */
export function displace(lease: LeaseState): LeaseState {
  if (lease.phase !== "held") return lease;
  return { phase: "displacing", generation: lease.generation + 1, run: lease.run };
}

/** The run is gone from the machine. A run that no longer holds the lease changes nothing. */
export function ended(lease: LeaseState, run: string): LeaseState {
  if (lease.phase === "free" || lease.run !== run) return lease;
  return { phase: "free", generation: lease.generation };
}

export type LeaseStanding = "current" | "displaced" | "stale";

/** May a writer that shows this run and generation still write? */
export function standing(lease: LeaseState, run: string, generation: number): LeaseStanding {
  if (lease.phase === "held" && lease.run === run && lease.generation === generation) return "current";
  return lease.phase === "displacing" && lease.run === run ? "displaced" : "stale";
}
