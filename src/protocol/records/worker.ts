import type { Provenance, Proved, Variables } from "./conversation.ts";

// What the daemon answers, and what `--json` prints: others build on these fields.

export type WorkerState =
  | "stopped"
  | "starting"
  | "idle"
  | "busy"
  | "blocked"
  | "backing-off"
  | "crash-looping"
  | "held"
  | "paused"
  | "displaced"
  | "unresumable";

interface SessionSummary {
  id: string;
  provenance: Provenance;
  /** Of the last run that was in it. */
  proved: Proved;
}

/** One vendor conversation of a worker. */
export interface SessionRecord {
  id: string;
  vendor: string;
  provenance: Provenance;
  /** The conversation this one came after, by `/clear`, `/new` or `--fresh`. */
  rotatedFrom: string | null;
  /** The conversation it began as a branch of. */
  forkedFrom: string | null;
  launchCwd: string;
  configDir: string;
  proved: Proved;
  evidence: string | null;
  /** The copy that perdure keeps of it. */
  custody: { bytes: number; sha256: string; at: string } | null;
  /** The one the next start resumes. */
  current: boolean;
  /** Of the vendor's program, as the transcript tells it. */
  version: string | null;
  transcript: { file: string; bytes: number } | null;
  createdAt: string;
}

/** A conversation a run was in. */
interface RunSession {
  id: string;
  began: "new" | "resume" | "rotation";
  at: string;
  proved: Proved;
  evidence: string | null;
  provedAt: string | null;
}

interface RunSummary {
  id: string;
  pid: number;
  startedAt: string;
}

export interface WorkerSummary {
  address: string;
  project: string;
  name: string;
  vendor: string | null;
  /** Why what is said of its conversation was never seen with the real program; null when it was. */
  unproved: string | null;
  mode: "foreground" | "client" | "tmux";
  state: WorkerState;
  generation: number;
  run: RunSummary | null;
  session: SessionSummary | null;
  unread: number;
  restarts: number;
  attention: string | null;
  /** How the last run ended; null while one runs and before the first. */
  lastEnd: { reason: string; exit: number | null; at: string } | null;
}

export interface RunRecord {
  id: string;
  generation: number;
  startedAt: string;
  endedAt: string | null;
  /** The program's exit code; null while it runs and when nobody could tell. */
  exit: number | null;
  reason: string | null;
  /** The conversation it was in last. */
  sessionId: string | null;
  sessions: RunSession[];
  pid: number;
  displacedBy: string | null;
}

export interface WorkerDetail extends WorkerSummary {
  createdAt: string;
  command: string[] | null;
  cwd: string | null;
  /** Names only: the values are kept for later starts and never printed. */
  environment: string[];
  formerNames: string[];
  /** The conversation the next start resumes. */
  conversation: SessionRecord | null;
  processes: { pid: number; command: string }[];
  lastRun: RunRecord | null;
}

export interface History {
  address: string;
  runs: RunRecord[];
  sessions: SessionRecord[];
}

export interface ProjectSummary {
  slug: string;
  root: string;
  identity: string;
  registered: boolean;
  workers: number;
}

/** A new conversation, the one it was in, or a branch of another's. */
export type LaunchStep = "new" | "resume" | "fork";

/** The vendor had lost the conversation, and it was put back from the copy that was kept. */
export interface Restored {
  bytes: number;
  /** What was written after the last copy, and is lost. */
  missingBytes: number;
}

/** What to start: decided by the daemon, carried out by whoever asked. */
export interface LaunchOrder {
  command: string[];
  cwd: string;
  /** Set in the program's environment; null for what must not be set. */
  variables: Variables;
  /** Written into the run's folder first. */
  files: { name: string; text: string }[];
  /** Folders in the run's folder that show what is in another one. */
  mirrors: {
    name: string;
    of: string;
    only?: string[];
    leave?: string[];
    folders?: string[];
    files?: string[];
  }[];
  /** A free port is wanted in the command and in the files. */
  freePort: boolean;
  session: { vendor: string; id: string; step: LaunchStep; restored: Restored | null } | null;
}

/** The vendor makes its own ids: have it make one, then `bind` it to the run. */
export interface MintOrder {
  vendor: string;
  command: string[];
  args: string[];
  cwd: string;
  variables: Variables;
  /** The conversation to branch from; null for a new one. */
  from: string | null;
}

export interface ClaimGrant {
  address: string;
  project: string;
  name: string;
  run: string;
  generation: number;
  token: string;
  /** As the operator gave it. */
  command: string[] | null;
  cwd: string | null;
  /** One of these for a program; neither for a library's claim. */
  launch: LaunchOrder | null;
  mint: MintOrder | null;
  /** Earlier runs of the worker, newest first: one of them may have left a context file behind. */
  earlierRuns: string[];
  /** Where the wrapper leaves the exit code. */
  runDir: string;
  wrapper: "env" | "bash" | "plain";
  socket: string;
}

export interface TakeoverResult {
  address: string;
  /** The run that was stopped; null when nobody held the name. */
  displaced: string | null;
  generation: number;
  killed: boolean;
}

export interface EventRecord {
  seq: number;
  at: string;
  type: string;
  project: string | null;
  worker: string | null;
  run: string | null;
  generation: number | null;
  data: Record<string, unknown>;
}

/** Whose context file it is; files of other ids are not listed. */
export interface AnchorOwner {
  file: string;
  run: string;
  worker: string;
  generation: number;
  live: boolean;
  endedAt: string | null;
  reason: string | null;
}

export interface DaemonStatus {
  running: true;
  pid: number;
  uptimeMs: number;
  version: string;
  protocol: number;
  socket: string;
  stateDir: string;
  liveRuns: number;
  connections: number;
  rssBytes: number;
  store: { schema: number; sqlite: string; check: "pending" | "ok" | "not-needed" };
}

export interface CheckResult {
  ok: boolean;
  problems: string[];
  tookMs: number;
}
