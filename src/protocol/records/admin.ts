// Projects, events and the daemon itself, as `--json` prints them: others build on these fields.

export interface ProjectSummary {
  slug: string;
  root: string;
  identity: string;
  registered: boolean;
  workers: number;
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
