import { join } from "node:path";
import { statExactly } from "../../../state/files.ts";
import { conversationOfRun } from "../../../store/conversations.ts";
import type { Run } from "../../../store/runs.ts";
import { adapterOf, type Adapter } from "../../../vendors/index.ts";
import type { BaseServices } from "../../base-services.ts";
import { publishRunEvent } from "../../events.ts";
import type { RunWatch } from "../../runs/watch.ts";

interface MergerServices extends BaseServices {
  readonly runs: Pick<RunWatch, "runDir">;
}

interface Followed {
  saved: NonNullable<Adapter["launch"]["savedSettings"]>;
  runDir: string;
  configDir: string;
  /** The state in which the file was looked at last; null before the first time. */
  seen: string | null;
}

/**
 * Merges what a user changes inside a program into the user's own settings, where the program saves it in a copy. It is done while the
 * run lives, so that the next worker has the change already, and once more when no process of it is left.
 */
export class SettingsMerger {
  readonly #services: MergerServices;
  readonly #followed = new Map<string, Followed>();

  constructor(services: MergerServices) {
    this.#services = services;
  }

  follow(run: Run): void {
    const conversation = conversationOfRun(this.#services.db, run.id);
    const saved = conversation && adapterOf(conversation.vendor)?.launch.savedSettings;
    if (!saved || this.#followed.has(run.id)) return;
    const { configDir } = conversation;
    this.#followed.set(run.id, { saved, runDir: this.#services.runs.runDir(run.id), configDir, seen: null });
  }

  polled(run: Run): void {
    const followed = this.#followed.get(run.id);
    if (!followed) return;
    const stats = statExactly(join(followed.runDir, followed.saved.file));
    const state = stats === undefined ? null : `${stats.mtimeNs}:${stats.ino}:${stats.size}`;
    if (state === followed.seen) return;
    // A file that the program is still writing cannot be read, and has another size when it is done.
    followed.seen = state;
    void this.#merge(run, followed);
  }

  async gone(run: Run): Promise<void> {
    const followed = this.#followed.get(run.id);
    if (followed) await this.#merge(run, followed);
  }

  ended(run: string): void {
    this.#followed.delete(run);
  }

  async #merge(run: Run, { saved, runDir, configDir }: Followed): Promise<void> {
    try {
      const merged = saved.merge(runDir, configDir);
      if (merged === null) return;
      const { file, settings, kept } = merged;
      const type = kept === null ? "settings.merged" : "settings.kept";
      const where = kept === null ? {} : { kept: kept.file, problem: kept.problem };
      await publishRunEvent(this.#services, run, type, { file, settings, ...where });
    } catch (error) {
      this.#services.log(`${run.id}: changed settings could not be merged: ${String(error)}`);
    }
  }
}
