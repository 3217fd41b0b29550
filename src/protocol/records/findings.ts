// What is found out about conversations and fleets: `adopt` alone, `saved`, `drill`. Others build on these fields too.

/** A conversation found in a vendor's folder. */
export interface FoundRecord {
  id: string;
  vendor: string;
  /** What was said last. */
  words: string | null;
  at: string;
  cwd: string | null;
  /** A live process that has it open. */
  openIn: number | null;
  /** The worker it belongs to. */
  worker: string | null;
}

/** One name for a whole fleet: which conversation each worker is in. */
export interface SavedRecord {
  name: string;
  project: string;
  /** It follows its workers. */
  active: boolean;
  createdAt: string;
  updatedAt: string;
  workers: SavedWorker[];
}

interface SavedWorker {
  name: string;
  address: string;
  vendor: string;
  sessionId: string;
  launchCwd: string;
  configDir: string;
}

export interface DrillCheck {
  check: string;
  ok: boolean;
  detail: string;
  hint: string | null;
}

/** Whether a worker could be resumed; the reason is that of the first check that failed. */
export interface DrillResult {
  address: string;
  ok: boolean;
  reason: string | null;
  hint: string | null;
  vendor: string | null;
  /** Why its vendor was never tried with the real program. */
  unproved: string | null;
  session: string | null;
  checks: DrillCheck[];
}
