import { rmSync } from "node:fs";
import { join } from "node:path";
import { STATUS_LINE_SETTLE_MS } from "../../limits/index.ts";
import { formatAddress } from "../../protocol/names.ts";
import { isErrno, writeFileAtomic } from "../../state/files.ts";
import { countUnanswered } from "../../store/messages.ts";
import { projectById } from "../../store/projects.ts";
import type { Run } from "../../store/runs.ts";
import { workerById } from "../../store/workers.ts";
import { STATUS_LINE_FILE } from "../../vendors/index.ts";
import { mailboxKey, statusLineKey } from "../mail/mailbox-change.ts";
import type { DeliveryServices } from "./services.ts";

/**
 * Tells code of ours inside a run's program what the program's person sees of the worker: its address, and how much mail it has. It is
 * a file in the run's folder, written when that changes, so nobody has to ask; a daemon that stops takes it away.
 */
export class StatusLine {
  readonly #services: DeliveryServices;
  readonly #workerId: number;
  readonly #file: string;
  readonly #unlisten: (() => void)[];
  #timer: NodeJS.Timeout | null = null;
  #written: string | null = null;

  constructor(services: DeliveryServices, run: Run, projectId: number) {
    this.#services = services;
    this.#workerId = run.workerId;
    this.#file = join(services.runs.runDir(run.id), STATUS_LINE_FILE);
    const keys = [mailboxKey(projectId, run.workerId), statusLineKey(run.workerId)];
    this.#unlisten = keys.map((key) => services.mail.listen(key, () => this.#writeSoon()));
    this.#write();
  }

  stop(): void {
    for (const unlisten of this.#unlisten) unlisten();
    if (this.#timer) clearTimeout(this.#timer);
    this.#try(() => rmSync(this.#file, { force: true }));
  }

  /** Many messages that come together are one change to look at. */
  #writeSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#write();
    }, STATUS_LINE_SETTLE_MS).unref();
  }

  #write(): void {
    const { db } = this.#services;
    const worker = workerById(db, this.#workerId);
    const project = worker && projectById(db, worker.projectId);
    if (!worker || !project) return;
    const unread = db.mailboxCounters.count(worker.projectId, worker.id).messages;
    const unanswered = countUnanswered(db, worker.id);
    const text = JSON.stringify({ address: formatAddress(project.slug, worker.name), unread, unanswered });
    if (text === this.#written) return;
    this.#try(() => writeFileAtomic(this.#file, text));
    this.#written = text;
  }

  /** The run goes on without its status line: the agent may have removed the folder, or the disk may be full. */
  #try(change: () => void): void {
    try {
      change();
    } catch (error) {
      if (!isErrno(error, "ENOENT", "ENOTDIR")) this.#services.log(`${this.#file}: ${String(error)}`);
    }
  }
}
