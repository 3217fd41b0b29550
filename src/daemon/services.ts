import type { StatePaths } from "../state/paths.ts";
import type { ProcessTable } from "../runtime/process/index.ts";
import type { WrapperForm } from "../runtime/wrapper/script.ts";
import type { Db } from "../store/db.ts";
import { insertEvent } from "../store/events.ts";
import type { FailureKind } from "../store/failure.ts";
import type { Run } from "../store/runs.ts";
import { workerById } from "../store/workers.ts";
import type { Writer } from "../store/writer.ts";
import type { Custody } from "./custody/custody.ts";
import type { Supervisor } from "./fleet/supervisor.ts";
import type { Mail } from "./mail/runtime.ts";
import type { RunWatch } from "./runs/watch.ts";
import type { SessionWatch } from "./conversations/tracker.ts";

/** What every part of the daemon works with. */
export interface House {
  readonly paths: StatePaths;
  readonly db: Db;
  readonly writer: Writer;
  readonly processes: ProcessTable;
  readonly watch: RunWatch;
  readonly sessions: SessionWatch;
  readonly custody: Custody;
  readonly mail: Mail;
  readonly fleet: Supervisor;
  readonly host: string;
  /** Takeovers under way, by run: asked twice, a run is stopped once, at the earlier of the two times. */
  readonly stopping: Map<string, Stopping>;
  /** Which shell form works here; found out at the first launch. */
  wrapper(): WrapperForm;
  /** Wall time, for records. Never for waiting: see `monotonicMs`. */
  now(): number;
  monotonicMs(): number;
  log(line: string): void;
  /** The disk or the store failed outside a change. */
  onStoreFailure(kind: FailureKind, error: unknown): void;
  /** Called after every commit; returns how to stop. */
  onCommit(listener: () => void): () => void;
}

/** What there is before anything watches runs. */
export type Ground = Omit<House, "watch" | "sessions" | "custody" | "mail" | "fleet">;

/** What those work with that follow conversations and stop runs. */
export type Watched = Omit<House, "sessions" | "fleet">;

export interface Stopping {
  /** Whether KILL was needed. */
  done: Promise<boolean>;
  /** Monotonic. */
  killAtMs: number;
}

interface EventSubject {
  projectId?: number;
  workerId?: number;
  run?: string;
  generation?: number;
}

/** Inside a change: the event is kept if and only if the change is. */
export function record(
  house: Pick<House, "db" | "now">,
  type: string,
  subject: EventSubject,
  data: Record<string, unknown> = {},
): void {
  insertEvent(house.db, {
    atMs: house.now(),
    type,
    projectId: subject.projectId ?? null,
    workerId: subject.workerId ?? null,
    runId: subject.run ?? null,
    generation: subject.generation ?? null,
    data: JSON.stringify(data),
  });
}

/** The same of something that happened to a run; of one whose worker is gone nobody wants to know. */
export function recordOfRun(
  house: Pick<House, "db" | "now">,
  type: string,
  { id: run, workerId, generation }: Run,
  data: Record<string, unknown>,
): void {
  const projectId = workerById(house.db, workerId)?.projectId;
  if (projectId !== undefined) record(house, type, { projectId, workerId, run, generation }, data);
}
