import type { LeaseState } from "../core/lease.ts";
import type { RestartPolicy } from "../core/restart.ts";
import type { Hint } from "../protocol/hint.ts";
import type { EnvironmentScope } from "../protocol/records/environment.ts";
import type { Declared } from "../protocol/records/conversation.ts";
import type { Db } from "./db.ts";
import { requirePresent } from "../util/require-present.ts";
import { parseColumn } from "./failure.ts";

/** A logical agent with a name; retired ones stay for their history. */
export interface Worker {
  readonly id: number;
  /** The id that no worker of another machine has either. */
  readonly uid: string;
  readonly projectId: number;
  readonly name: string;
  readonly nameKey: string;
  readonly createdMs: number;
  readonly retiredMs: number | null;
  readonly lease: LeaseState;
  /** The run that holds the name; null while the name is free. */
  readonly holderRun: string | null;
  /** The command line of the last start; null for a worker that was never started by us. */
  readonly command: string[] | null;
  readonly cwd: string | null;
  /** The file with the environment of later starts, by its digest; null if none was recorded. */
  readonly environmentFile: string | null;
  readonly environmentScope: EnvironmentScope | null;
  /** The worker is retired when its run ends. */
  readonly ephemeral: boolean;
  readonly vendor: string | null;
  /** The word of the command after which the vendor's arguments follow. */
  readonly programAt: number | null;
  /** The conversation that the next start resumes. */
  readonly conversationId: number | null;
  /** The reason why the last start was refused, by perdure or by the vendor's program itself. */
  readonly unresumable: string | null;
  /** A digest of the user's options with which the agent last came up in its conversation. */
  readonly provedOptions: string | null;
  /** The conversation that the next start branches; null once it has. */
  readonly forkOf: number | null;
  readonly declared: Declared | null;
  /** The worker that started this one last; null for the operator. */
  readonly startedBy: number | null;
  readonly paused: boolean;
  /** The worker was brought up and not brought down since, so it should run. */
  readonly desired: boolean;
  /** The settings of the fleet; null for a worker that no fleet ever brought up. */
  readonly fleet: FleetSettings | null;
  readonly onHold: OnHold | null;
  readonly restarts: number;
}

/** The settings with which the fleet runs a worker. */
export interface FleetSettings {
  group: string | null;
  restart: RestartPolicy;
  /** The first turn of a new conversation. */
  prompt: string | null;
  /** The soft limit of open files in the shell that brought the worker up; the daemon has another one. */
  openFiles: number | null;
  /** The part that the worker has; absent in settings of an earlier version. */
  about?: string | null;
  /** A worker of turns has no process between messages; absent in settings of an earlier version, which know panes only. */
  mode?: "tmux" | "turn";
  /** The senders whose mail may begin a turn; null for the default. */
  turnsFrom?: readonly string[] | null;
  /** The mail that begins a turn: all of it, or only what waits for an answer. */
  activate?: "mail" | "ask";
  /** The next turn begins a new conversation. */
  beginsAnew?: boolean;
  /** The generation the worker had when it was brought up: with no later run, it is still owed a start. */
  after: number;
}

/** The reason why a worker is not started again until a person intervenes. */
export interface OnHold {
  state: "on-hold" | "crash-looping";
  reason: string;
  /** The way out, for the person; an earlier version wrote it into the reason. */
  next?: Hint;
}

/** The columns of a worker as SQLite returns them: a boolean is 0 or 1; lists and records are JSON. */
interface WorkerColumns {
  id: number;
  uid: string;
  project_id: number;
  name: string;
  name_key: string;
  created_ms: number;
  retired_ms: number | null;
  lease_phase: LeaseState["phase"];
  generation: number;
  holder_run: string | null;
  command: string | null;
  cwd: string | null;
  environment_file: string | null;
  environment_scope: EnvironmentScope | null;
  ephemeral: number;
  vendor: string | null;
  program_at: number | null;
  session_id: number | null;
  unresumable: string | null;
  proved_options: string | null;
  fork_of: number | null;
  declared: string | null;
  started_by: number | null;
  paused: number;
  desired: number;
  fleet_settings: string | null;
  on_hold: string | null;
  restarts: number;
}

/** Maps the columns; JSON is parsed on access, because most readers want a name or a lease. */
function workerOf(columns: WorkerColumns): Worker {
  return {
    id: columns.id,
    uid: columns.uid,
    projectId: columns.project_id,
    name: columns.name,
    nameKey: columns.name_key,
    createdMs: columns.created_ms,
    retiredMs: columns.retired_ms,
    lease: leaseOf(columns),
    holderRun: columns.holder_run,
    get command() {
      return columns.command === null ? null : parseColumn<string[]>("workers.command", columns.command);
    },
    cwd: columns.cwd,
    environmentFile: columns.environment_file,
    environmentScope: columns.environment_scope,
    ephemeral: columns.ephemeral === 1,
    vendor: columns.vendor,
    programAt: columns.program_at,
    conversationId: columns.session_id,
    unresumable: columns.unresumable,
    provedOptions: columns.proved_options,
    forkOf: columns.fork_of,
    get declared() {
      return columns.declared === null ? null : parseColumn<Declared>("workers.declared", columns.declared);
    },
    startedBy: columns.started_by,
    paused: columns.paused === 1,
    desired: columns.desired === 1,
    get fleet() {
      return columns.fleet_settings === null
        ? null
        : parseColumn<FleetSettings>("workers.fleet_settings", columns.fleet_settings);
    },
    get onHold() {
      return columns.on_hold === null ? null : parseColumn<OnHold>("workers.on_hold", columns.on_hold);
    },
    restarts: columns.restarts,
  };
}

const DEFAULT_SETTINGS: FleetSettings = { group: null, restart: "on-failure", prompt: null, openFiles: null, after: 0 };

function leaseOf({ lease_phase: phase, generation, holder_run: run }: WorkerColumns): LeaseState {
  // Frozen like the worker that holds it: all who read a cached worker share both.
  return Object.freeze(phase === "free" || run === null ? { phase: "free", generation } : { phase, generation, run });
}

/** Tells whether mail begins the worker's turns, so that it has no process in between. */
export function isTurnWorker(worker: Pick<Worker, "fleet" | "desired">): boolean {
  return worker.desired && worker.fleet?.mode === "turn";
}

/** Returns the fleet settings of a worker; the defaults for one that was never brought up. */
export function fleetSettingsOf({ fleet }: Pick<Worker, "fleet">): FleetSettings {
  return fleet ?? DEFAULT_SETTINGS;
}

export function workerByName(db: Db, projectId: number, nameKey: string): Worker | null {
  return db.cachedOne(
    workerOf,
    "SELECT * FROM workers WHERE project_id = ? AND name_key = ? AND retired_ms IS NULL",
    projectId,
    nameKey,
  );
}

export function workerById(db: Db, id: number): Worker | null {
  return db.cachedOne(workerOf, "SELECT * FROM workers WHERE id = ?", id);
}

/** Returns the workers whose uid has this prefix, two at most: that is enough to see that it is not unique. */
export function workersByUidPrefix(db: Db, prefix: string): Worker[] {
  return db
    .all<WorkerColumns>(
      "SELECT * FROM workers WHERE uid >= ?1 AND uid < ?1 || 'g' AND retired_ms IS NULL LIMIT 2",
      prefix,
    )
    .map(workerOf);
}

export function lastRetiredByName(db: Db, projectId: number, nameKey: string): Worker | null {
  const columns = db.one<WorkerColumns>(
    "SELECT * FROM workers WHERE project_id = ? AND name_key = ? AND retired_ms IS NOT NULL ORDER BY retired_ms DESC LIMIT 1",
    projectId,
    nameKey,
  );
  return columns && workerOf(columns);
}

export function workersOfProject(db: Db, projectId: number): Worker[] {
  return db
    .all<WorkerColumns>(
      "SELECT * FROM workers WHERE project_id = ? AND retired_ms IS NULL ORDER BY name_key",
      projectId,
    )
    .map(workerOf);
}

export interface Peers {
  /** The first of them, by name. */
  first: Worker[];
  count: number;
}

/** Returns the first of a worker's lasting peers, and how many it has: a project may have thousands, and each start asks. */
export function peersOf(db: Db, { id, projectId }: Pick<Worker, "id" | "projectId">, most: number): Peers {
  const are = "project_id = ? AND retired_ms IS NULL AND ephemeral = 0 AND id <> ?";
  const first = db
    .all<WorkerColumns>(`SELECT * FROM workers WHERE ${are} ORDER BY name_key LIMIT ?`, projectId, id, most)
    .map(workerOf);
  if (first.length < most) return { first, count: first.length };
  const row = db.one<{ count: number }>(`SELECT count(*) AS count FROM workers WHERE ${are}`, projectId, id);
  return { first, count: row?.count ?? first.length };
}

export function countWorkers(db: Db, projectId: number): number {
  const row = db.one<{ count: number }>(
    "SELECT count(*) AS count FROM workers WHERE project_id = ? AND retired_ms IS NULL",
    projectId,
  );
  return row?.count ?? 0;
}

export function desiredWorkers(db: Db): Worker[] {
  return db
    .all<WorkerColumns>("SELECT * FROM workers WHERE desired = 1 AND retired_ms IS NULL ORDER BY id")
    .map(workerOf);
}

/** Returns an upper bound for the workers of any project without counting, because each new name asks for it. */
export function workerCountUpperBound(db: Db): number {
  return db.one<{ last: number | null }>("SELECT max(id) AS last FROM workers")?.last ?? 0;
}

export type NewWorker = Pick<Worker, "projectId" | "name" | "nameKey" | "createdMs" | "ephemeral">;

/** Inserts a worker and returns it as the store has it now. */
export function insertWorker(db: Db, worker: NewWorker): Worker {
  const minted = db.one<Pick<WorkerColumns, "id" | "uid">>(
    `INSERT INTO workers (project_id, name, name_key, created_ms, ephemeral, uid)
     VALUES (?, ?, ?, ?, ?, lower(hex(randomblob(16)))) RETURNING id, uid`,
    worker.projectId,
    worker.name,
    worker.nameKey,
    worker.createdMs,
    worker.ephemeral ? 1 : 0,
  );
  return workerOf({
    ...NEVER_STARTED,
    ...requirePresent(minted, `worker ${worker.name}`),
    project_id: worker.projectId,
    name: worker.name,
    name_key: worker.nameKey,
    created_ms: worker.createdMs,
    ephemeral: worker.ephemeral ? 1 : 0,
  });
}

/** The columns that a new worker has by default: having all of them returned takes longer than the insert itself. */
const NEVER_STARTED = {
  retired_ms: null,
  lease_phase: "free",
  generation: 0,
  holder_run: null,
  command: null,
  cwd: null,
  environment_file: null,
  environment_scope: null,
  vendor: null,
  program_at: null,
  session_id: null,
  unresumable: null,
  proved_options: null,
  fork_of: null,
  declared: null,
  started_by: null,
  paused: 0,
  desired: 0,
  fleet_settings: null,
  on_hold: null,
  restarts: 0,
} as const;

export function setLease(db: Db, workerId: number, lease: LeaseState): void {
  db.run(
    "UPDATE workers SET lease_phase = ?, generation = ?, holder_run = ? WHERE id = ?",
    lease.phase,
    lease.generation,
    lease.phase === "free" ? null : lease.run,
    workerId,
  );
}

export type StoredLaunch = Pick<Worker, "command" | "cwd" | "vendor" | "programAt" | "declared">;

export function setLaunch(db: Db, workerId: number, launch: StoredLaunch): void {
  db.run(
    `UPDATE workers SET command = ?, cwd = ?, vendor = ?, program_at = ?, declared = ?, unresumable = NULL
     WHERE id = ?`,
    launch.command === null ? null : JSON.stringify(launch.command),
    launch.cwd,
    launch.vendor,
    launch.programAt,
    launch.declared === null ? null : JSON.stringify(launch.declared),
    workerId,
  );
}

/** Sets the conversation that the worker's next start branches; null once it has. */
export function setForkOf(db: Db, workerId: number, conversationId: number | null): void {
  db.run("UPDATE workers SET fork_of = ? WHERE id = ?", conversationId, workerId);
}

/** Records who started the worker last: another worker, or null for the operator. */
export function setStartedBy(db: Db, workerId: number, startedBy: number | null): void {
  db.run("UPDATE workers SET started_by = ? WHERE id = ?", startedBy, workerId);
}

export function setPaused(db: Db, workerId: number, paused: boolean): void {
  db.run("UPDATE workers SET paused = ? WHERE id = ?", paused ? 1 : 0, workerId);
}

export function setUnresumable(db: Db, workerId: number, why: string | null): void {
  db.run("UPDATE workers SET unresumable = ? WHERE id = ?", why, workerId);
}

export function setProvedOptions(db: Db, workerId: number, digest: string): void {
  db.run("UPDATE workers SET proved_options = ? WHERE id = ?", digest, workerId);
}

/** Moves the folders of a project's workers along after the project itself was moved. */
export function rebaseFolders(db: Db, projectId: number, from: string, to: string): void {
  db.run(
    `UPDATE workers SET cwd = ?1 || substr(cwd, length(?2) + 1)
     WHERE project_id = ?3 AND (cwd = ?2 OR substr(cwd, 1, length(?2) + 1) = ?2 || '/')`,
    to,
    from,
    projectId,
  );
}

export function renameWorker(db: Db, workerId: number, name: string, nameKey: string): void {
  db.run("UPDATE workers SET name = ?, name_key = ? WHERE id = ?", name, nameKey, workerId);
}

export function retireWorker(db: Db, workerId: number, nowMs: number): void {
  db.run(
    "UPDATE workers SET retired_ms = ?, environment_file = NULL, environment_scope = NULL WHERE id = ?",
    nowMs,
    workerId,
  );
}
