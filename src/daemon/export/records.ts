import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { recordsFolderAt } from "../../project/configured-folder.ts";
import { formatAddress } from "../../protocol/names.ts";
import type { SavedRecord } from "../../protocol/records/fleet.ts";
import { writeFileAtomic } from "../../state/files.ts";
import { isNoRecordAfter, lastEventSeq, projectsChanged } from "../../store/events.ts";
import { allProjects, projectById, type Project } from "../../store/projects.ts";
import { runsOfWorker } from "../../store/runs.ts";
import { savedOfProject } from "../../store/saved.ts";
import { conversationById } from "../../store/conversations.ts";
import { workersOfProject, type Worker } from "../../store/workers.ts";
import type { StatusServices } from "../status/services.ts";
import { describeSaved } from "../saved/saved.ts";
import { iso } from "../../util/iso.ts";
import { shellWords } from "../../util/shell-quote.ts";

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
    const all = workersOfProject(db, project.id);
    const workers = all
      .filter(({ ephemeral }) => !ephemeral)
      .map((worker) => [join(folder, `${worker.name}.session.json`), this.#workerRecord(project, worker)] as const);
    const saved = savedOfProject(db, project.id).map((each) => {
      const record = describeSaved(this.#services, project, each);
      return [join(folder, "sessions", `${each.name}.json`), { ...record, ...masterFields(record, all) }] as const;
    });
    return new Map([...workers, ...saved].map(([file, value]) => [file, `${JSON.stringify(value, null, 2)}\n`]));
  }

  #workerRecord(project: Project, worker: Worker): object {
    const [last] = runsOfWorker(this.#services.db, worker.id, 1);
    const conversation =
      worker.conversationId === null ? null : conversationById(this.#services.db, worker.conversationId);
    return {
      agent_id: worker.name,
      run: last?.id ?? null,
      cli_command: textOfCommand(worker),
      command: worker.command,
      session_name: formatAddress(project.slug, worker.name),
      session_id: conversation?.vendorId ?? null,
      spawned_at: last ? iso(last.startedMs) : null,
    };
  }
}

/** The fields by which tools of other orchestrators read a saved session: a map from each agent to what it is resumed by. */
function masterFields({ createdAt, workers }: SavedRecord, all: readonly Worker[]): object {
  const byName = new Map(all.map((worker) => [worker.name, worker]));
  const agents = workers.map(({ name, address, vendor, sessionId }) => {
    const worker = byName.get(name);
    const command = worker === undefined ? null : textOfCommand(worker);
    return [name, { cli_command: command ?? vendor, session_name: address, session_id: sessionId }] as const;
  });
  return { created_at: createdAt, agents: Object.fromEntries(agents) };
}

/** Writes a worker's command line as the text that a shell would take. */
function textOfCommand({ command }: Worker): string | null {
  return command === null ? null : shellWords(command);
}

/** Returns the records folder, or null: repositories are untrusted, and the daemon writes there only inside the project. */
function recordsFolder(project: Project): string | null {
  const found = recordsFolderAt(project.root);
  if (found === null || "problem" in found) return null;
  for (const each of [found.folder, join(found.folder, "sessions")]) mkdirSync(each, { recursive: true, mode: 0o700 });
  return found.folder;
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileAtomic(file, text);
}
