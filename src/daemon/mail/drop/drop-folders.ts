import { join } from "node:path";
import { CONFIG_BYTES_MAX } from "../../../limits/index.ts";
import { isFolderBelow } from "../../../project/config/folder.ts";
import { parseToml } from "../../../project/config/read.ts";
import { dropFolder } from "../../../project/configured-folder.ts";
import { CONFIG_FILE } from "../../../project/find.ts";
import { readIfReadable } from "../../../state/bounded-read.ts";
import { statExactly } from "../../../state/files.ts";
import { trustedDigests, trustedFleetOf } from "../../../store/fleet.ts";
import { projectById, type Project } from "../../../store/projects.ts";
import { errnoName } from "../../../util/errno-name.ts";
import { fieldsOf } from "../../../util/fields.ts";
import type { BaseServices } from "../../base-services.ts";

/** A folder of a project in which files are mail. */
export interface DropFolder {
  project: Project;
  folder: string;
}

/** The `[mail] drop_dir` of every project whose perdure.toml is what its operator has trusted, to the letter. */
export class DropFolders {
  readonly #services: Pick<BaseServices, "db" | "log">;
  /** The folder that each trusted text names, by the text's digest; null for most. */
  readonly #named = new Map<string, string | null>();
  /** Whether a project's file was its trusted text when it was read last: for that state of the file, and that digest. */
  readonly #compared = new Map<number, { state: string; isSame: boolean }>();
  readonly #told = new Map<number, string>();

  constructor(services: Pick<BaseServices, "db" | "log">) {
    this.#services = services;
  }

  /** Looks into each project's folder. What is wrong with one of them is told, and keeps nobody from looking at the others. */
  look<Found>(into: (drop: DropFolder) => Found[]): Found[] {
    const { db } = this.#services;
    return trustedDigests(db).flatMap(({ projectId, digest }) => {
      const dir = this.#dirOf(projectId, digest);
      const project = dir === null ? null : projectById(db, projectId);
      if (dir === null || project === null) return [];
      try {
        if (!this.#isAsTrusted(project, digest)) return [];
        const found = dropFolder(project.root, dir);
        if ("folder" in found) return into({ project, folder: found.folder });
        this.#tell(project, found.problem);
      } catch (error) {
        if (errnoName(error) === null) throw error;
        this.#tell(project, String(error));
      }
      return [];
    });
  }

  #dirOf(projectId: number, digest: string): string | null {
    const known = this.#named.get(digest);
    if (known !== undefined) return known;
    const dir = dropDirIn(trustedFleetOf(this.#services.db, projectId)?.text ?? "");
    this.#named.set(digest, dir);
    return dir;
  }

  /** A repository can change its file at any time, by a pull: what it says then is for the operator to see first. */
  #isAsTrusted({ id, root }: Project, digest: string): boolean {
    const file = join(root, CONFIG_FILE);
    const stats = statExactly(file);
    const state = stats && `${digest} ${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
    if (state === undefined) return false;
    const known = this.#compared.get(id);
    if (known?.state === state) return known.isSame;
    const isSame = readIfReadable(file, CONFIG_BYTES_MAX) === trustedFleetOf(this.#services.db, id)?.text;
    this.#compared.set(id, { state, isSame });
    return isSame;
  }

  #tell({ id, slug }: Project, problem: string): void {
    if (this.#told.get(id) === problem) return;
    this.#told.set(id, problem);
    this.#services.log(`the drop_dir of ${slug} is not looked at: ${problem}`);
  }
}

/** Reads the key from a text that was checked as a whole before anybody could trust it. */
function dropDirIn(text: string): string | null {
  if (!text.includes("drop_dir")) return null; // the parser takes longer than all the looking
  const { drop_dir: dir } = fieldsOf(parseToml({ text, file: CONFIG_FILE }).mail);
  return typeof dir === "string" && isFolderBelow(dir) ? dir : null;
}
