import { globSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Model } from "../model/index.ts";
import { Home } from "../../support/home.ts";
import { binFolder, type VendorName } from "./pins.ts";
import { killMarked } from "./marked-processes.ts";
import type { Vendor } from "./vendor.ts";
import { VENDORS } from "./vendors/index.ts";

/** A home in which the named vendors' programs are installed and settled in; nothing of the real one reaches them. */
export class VendorHome extends Home {
  readonly #vendors: Vendor[] = [];

  constructor(model: Pick<Model, "url">, names: readonly VendorName[]) {
    super({ PATH: "/usr/bin:/bin" });
    for (const name of names) this.install(model, name);
  }

  /** Installs one more vendor's program; returns the variables with which it is found and runs. */
  install(model: Pick<Model, "url">, name: VendorName): Record<string, string> {
    const vendor = VENDORS[name];
    const variables = { PATH: `${binFolder(name)}:${this.env.PATH}`, ...vendor.configure(this.dir, model.url) };
    Object.assign(this.env, variables);
    this.#vendors.push(vendor);
    vendor.trust?.(this.dir, this.project);
    return variables;
  }

  /** One more folder the programs may be started in without asking. */
  seedFolder(folder: string): void {
    for (const vendor of this.#vendors) vendor.trust?.(this.dir, folder);
  }

  /** Tells whether a text is in a conversation on disk. A text on the screen may not be there yet: claude takes 0.3 s more. */
  hasWritten(text: string): boolean {
    const files = this.#vendors.flatMap(({ transcripts }) => globSync(`${transcripts}*`, { cwd: this.dir }));
    return files.some((file) => readFileSync(join(this.dir, file)).includes(text));
  }

  /** Clears the home, and ends all that programs left in the background: some start daemons, some survive their terminal. */
  override async clear(): Promise<void> {
    try {
      await super.clear();
    } finally {
      await killMarked("HOME", this.dir);
      rmSync(this.dir, { recursive: true, force: true });
    }
  }
}
