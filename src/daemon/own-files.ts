import { dirname } from "node:path";
import { OWN_FILES_POLL_MS } from "../limits/index.ts";
import { PerdureError } from "../protocol/errors.ts";
import { fileIdentity } from "../state/files.ts";
import { makeSafeFolder } from "../state/safe-folder.ts";
import { failureKind } from "../store/failure.ts";
import type { StorePlace } from "../store/place.ts";
import { publishProjects } from "./names/projects-index.ts";
import { writeDaemonFile } from "./server/daemon-file.ts";
import type { HighWater } from "./server/high-water.ts";
import type { Lock } from "./server/lock.ts";
import { reopenLogIfGone } from "./server/log.ts";
import type { DaemonServer } from "./server/socket.ts";
import type { Services } from "./services.ts";

interface Parts {
  services: Services;
  place: StorePlace;
  lock: Lock;
  server: DaemonServer;
  highWater: HighWater;
  /** Ends the daemon, because it must not serve this state folder any longer. */
  leave: (why: PerdureError) => void;
}

/**
 * Looks after the files of the state folder, which cleaners, sync tools and people remove, move and replace under a living daemon.
 * What can be made again is made again; without its store, or with another daemon in its place, the daemon leaves. Commits look
 * at the store themselves: a poll would be too late for them.
 */
export class OwnFiles {
  readonly #parts: Parts;
  #timer: NodeJS.Timeout | null = null;
  #isBusy = false;
  /** The identity of daemon.json as this daemon wrote it; null while it could not be written. */
  #daemonFile: string | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    this.#writeDaemonFile();
    this.#timer = setInterval(() => void this.#check(), OWN_FILES_POLL_MS).unref();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
  }

  async #check(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    const { services, place } = this.#parts;
    try {
      place.check();
      // What follows makes files in the folder, which is ours only as long as the store and the lock are.
      if (this.#hasLock()) await this.#restoreFiles();
    } catch (error) {
      if (failureKind(error) === "gone") services.onStoreFailure("gone", error);
      else services.log(`the state folder could not be put in order: ${String(error)}`);
    } finally {
      this.#isBusy = false;
    }
  }

  /** Takes the lock again if its file was removed; leaves if another daemon was faster. */
  #hasLock(): boolean {
    const { lock, services, leave } = this.#parts;
    if (lock.isInPlace()) return true;
    if (lock.retake()) {
      services.log(`${services.paths.lock} was removed or replaced; the daemon has locked it again`);
      return true;
    }
    leave(
      new PerdureError("unavailable", `Another daemon has taken ${services.paths.lock}, whose file was replaced.`, {
        hint: "try again",
      }),
    );
    return false;
  }

  async #restoreFiles(): Promise<void> {
    const { services, server, highWater } = this.#parts;
    const { paths } = services;
    reopenLogIfGone(paths.log);
    if (!server.isInPlace()) {
      makeSafeFolder(dirname(paths.socket));
      await server.listenAnew(paths.socket);
      services.log(`${paths.socket} was removed or replaced; the daemon listens there again`);
    }
    if (this.#daemonFile === null || fileIdentity(paths.daemonFile) !== this.#daemonFile) this.#writeDaemonFile();
    if (fileIdentity(paths.projectsFile) === null) publishProjects(services);
    if (fileIdentity(paths.runs) === null) makeSafeFolder(paths.runs);
    highWater.reopenIfGone();
    services.fleet.tmux.restoreSocketIfGone();
  }

  #writeDaemonFile(): void {
    const { services } = this.#parts;
    this.#daemonFile = writeDaemonFile(services) ? fileIdentity(services.paths.daemonFile) : null;
  }
}
