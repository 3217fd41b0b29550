import { DROP_FILES_PER_LOOK, DROP_POLL_MS, DROP_RETRY_MS } from "../../../limits/index.ts";
import type { MailServices } from "../services.ts";
import { DropFolders } from "./drop-folders.ts";
import { droppedFiles, SettledFiles, type DroppedFile } from "./look.ts";
import { takeFile } from "./take-file.ts";

/**
 * Takes files as mail that other tools put into a project's `[mail] drop_dir`, in the folder `to_<agent>`. The folders are looked at
 * every second, because they need not exist, and are on file systems that tell nobody of changes.
 */
export class DroppedMail {
  readonly #services: MailServices;
  readonly #folders: DropFolders;
  readonly #settled: SettledFiles;
  /** Files of which was told why they could not be taken now. */
  readonly #told = new Map<string, string>();
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;

  constructor(services: MailServices) {
    this.#services = services;
    this.#folders = new DropFolders(services);
    this.#settled = new SettledFiles(services.monotonicMs);
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.#look()
        .catch((error: unknown) => this.#services.log(`dropped mail: ${String(error)}`))
        .finally(() => {
          if (!this.#stopped) this.start();
        });
    }, DROP_POLL_MS).unref();
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const files = this.#folders.look(droppedFiles);
    const ready = this.#settled.among(files, (paths) => this.#services.processes.openAmong(paths));
    for (const file of ready.slice(0, DROP_FILES_PER_LOOK)) {
      if (this.#stopped) return;
      await this.#take(file);
    }
    const present = new Set(files.map(({ path }) => path));
    for (const path of this.#told.keys()) if (!present.has(path)) this.#told.delete(path);
  }

  /** Takes one file. One that cannot be taken or moved now, because a mailbox or the disk is full, keeps no other one back. */
  async #take(file: DroppedFile): Promise<void> {
    try {
      await takeFile(this.#services, file);
    } catch (error) {
      this.#settled.restart(file.path, DROP_RETRY_MS);
      const why = String(error);
      if (this.#told.get(file.path) === why) return;
      this.#told.set(file.path, why);
      this.#services.log(`${file.path} could not be taken as mail, and is tried again: ${why}`);
    }
  }
}
