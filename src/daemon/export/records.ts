import { mkdirSync, realpathSync, rmSync } from "node:fs";
import { dirname, isAbsolute, join, sep } from "node:path";
import { readSettingsAt } from "../../project/config/read.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import { formatAddress } from "../../protocol/names.ts";
import { isErrno, writeFileAtomic } from "../../state/files.ts";
import { realPath } from "../../state/paths.ts";
import { isNoRecordAfter, lastEventSeq, projectsChanged } from "../../store/events.ts";
import { allProjects, projectById, type Project } from "../../store/projects.ts";
import { runsOfWorker } from "../../store/runs.ts";
import { savedOfProject } from "../../store/saved.ts";
import { conversationById } from "../../store/conversations.ts";
import { workersOfProject, type Worker } from "../../store/workers.ts";
import type { StatusServices } from "../status/services.ts";
import { describeSaved } from "../saved/saved.ts";
import { iso } from "../../util/iso.ts";

type RecordServices = Pick<StatusServices, "db" | "log" | "onCommit">;

/**
 * Writes `<worker>.session.json` and `sessions/<saved>.json` to the project's `[records] dir`, for tools that read files.
 * The files follow the store a moment later, and are never read back.
 */
export class Records {
  readonly #services: RecordServices;
  /** The files and texts written so far, by project, so that only changes are written. */
  readonly #written = new Map<number, Map<string, string>>();
  #lastSeq: number;
  #isScheduled = false;

  constructor(services: RecordServices) {
    this.#services = services;
    this.#lastSeq = lastEventSeq(services.db);
  }

  start(): void {
    for (const project of allProjects(this.#services.db)) this.#refresh(project);
    this.#services.onCommit(() => {
      if (this.#isScheduled || isNoRecordAfter(this.#services.db, this.#lastSeq)) return;
      this.#isScheduled = true;
      setImmediate(() => {
        this.#isScheduled = false;
        this.#refreshChanged();
      });
    });
  }

  /** Refreshes the projects with new events: every change in a record comes with an event. */
  #refreshChanged(): void {
    const { db } = this.#services;
    const last = lastEventSeq(db);
    const changed = projectsChanged(db, this.#lastSeq);
    this.#lastSeq = last;
    for (const id of changed) {
      const project = projectById(db, id);
      if (project) this.#refresh(project);
    }
  }

  #refresh(project: Project): void {
    try {
      const folder = recordsFolder(project);
      if (folder === null) return;
      const before = this.#written.get(project.id) ?? new Map<string, string>();
      const now = this.#recordsOf(project, folder);
      for (const [file, text] of now) if (before.get(file) !== text) write(file, text);
      for (const file of before.keys()) if (!now.has(file)) rmSync(file, { force: true });
      this.#written.set(project.id, now);
    } catch (error) {
      // The project was moved, or its file cannot be read: no start depends on a record.
      this.#services.log(`records of ${project.slug}: ${String(error)}`);
    }
  }

  #recordsOf(project: Project, folder: string): Map<string, string> {
    const { db } = this.#services;
    const workers = workersOfProject(db, project.id)
      .filter(({ ephemeral }) => !ephemeral)
      .map((worker) => [join(folder, `${worker.name}.session.json`), this.#workerRecord(project, worker)] as const);
    const saved = savedOfProject(db, project.id).map(
      (each) => [join(folder, "sessions", `${each.name}.json`), describeSaved(this.#services, project, each)] as const,
    );
    return new Map([...workers, ...saved].map(([file, value]) => [file, `${JSON.stringify(value, null, 2)}\n`]));
  }

  #workerRecord(project: Project, worker: Worker): object {
    const [last] = runsOfWorker(this.#services.db, worker.id, 1);
    const conversation =
      worker.conversationId === null ? null : conversationById(this.#services.db, worker.conversationId);
    return {
      agent_id: last?.id ?? null,
      cli_command: worker.command,
      session_name: formatAddress(project.slug, worker.name),
      session_id: conversation?.vendorId ?? null,
      spawned_at: last ? iso(last.startedMs) : null,
    };
  }
}

/** Returns the records folder, or null unless it is inside the project: repositories are untrusted, and the daemon writes there. */
function recordsFolder(project: Project): string | null {
  const dir = configuredDir(project);
  if (dir === null || isAbsolute(dir)) return null;
  const root = realpathSync(project.root);
  const folder = join(root, dir);
  return [folder, join(folder, "sessions")].every((each) => isBelow(each, root) && createInside(each, root))
    ? folder
    : null;
}

/** Creates the folder; returns false if a symbolic link leads out of the project, before or after it was created. */
function createInside(folder: string, root: string): boolean {
  if (!isWithin(realPath(folder), root)) return false;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return isWithin(realpathSync(folder), root);
}

function isWithin(folder: string, root: string): boolean {
  return folder === root || isBelow(folder, root);
}

function configuredDir(project: Project): string | null {
  try {
    return readSettingsAt(project.root)?.records?.dir ?? null;
  } catch (error) {
    // The commands that use the file say what is wrong with it.
    if (isPerdureError(error) || isErrno(error, "ENOENT", "ENOTDIR", "EACCES")) return null;
    throw error;
  }
}

function isBelow(folder: string, root: string): boolean {
  return folder.startsWith(`${root}${sep}`);
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileAtomic(file, text);
}
