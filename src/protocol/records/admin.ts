// Projects, events and the daemon itself, as `--json` prints them: others build on these fields.

export interface ProjectSummary {
  /** The id that no project of another machine has either; null for a folder that is no project yet. */
  uid: string | null;
  slug: string;
  root: string;
  identity: string;
  registered: boolean;
  workers: number;
}

/** A project whose folder is gone and that is, as far as can be told, the repository of another folder. */
export interface MovedProject {
  slug: string;
  root: string;
  workers: number;
  /** The project's folder is where it was, and belongs to the caller's project now. */
  absorbed?: true;
}

/** A project after it was moved, with what became of the conversations that their vendors look for by folder. */
export interface ProjectMove extends ProjectSummary {
  /** The workers whose conversations were carried to the new folder. */
  carried: string[];
  /** The workers whose conversations could not be carried, with the reason. */
  left: { name: string; why: string }[];
}

export interface EventRecord {
  seq: number;
  at: string;
  type: string;
  project: string | null;
  /** The id of the project, which stays when its slug or its folder changes. */
  projectUid: string | null;
  worker: string | null;
  /** The id of the worker, which stays when it is renamed. */
  workerUid: string | null;
  run: string | null;
  generation: number | null;
  data: Record<string, unknown>;
}

export interface DaemonStatus {
  running: true;
  pid: number;
  /** The pid namespace in which the pid counts, and the machine or container that it is in. */
  namespace: string;
  host: string;
  uptimeMs: number;
  version: string;
  protocol: number;
  socket: string;
  stateDir: string;
  liveRuns: number;
  connections: number;
  rssBytes: number;
  store: {
    uid: string;
    schema: number;
    sqlite: string;
    check: "pending" | "ok" | "not-needed";
    /** The workers that the backup with which the daemon was started has taken back to an earlier time; null if none has. */
    ranSinceBackup: string[] | null;
    /** The time of the last change before the store was put in its place as a copy; null if it never was. An older daemon does not say. */
    copiedAt?: string | null;
  };
}

export interface CheckResult {
  ok: boolean;
  problems: string[];
  tookMs: number;
}
