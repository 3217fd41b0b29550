import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Home } from "../../support/home.ts";

/** The files of each folder that a row of the table may use as its `cwd`. */
const FOLDERS: Record<string, Record<string, string>> = {
  blank: {},
  configured: { "perdure.toml": 'project = "configured"\n' },
  syntax: { "perdure.toml": 'project = "api"\nname = solo\n' },
  "unknown-key": { "perdure.toml": '# a comment\n\n[defaults]\nvendor = "claude"\nrestrt = "never"\n' },
  "strange-key": { "perdure.toml": 'project = "x"\nconstructor = {}\n' },
  "bad-name": { "perdure.toml": 'project = "api"\nname = "two words"\n' },
  "bad-value": { "perdure.toml": '[workers.coder]\nrestart = "sometimes"\n' },
  "user-config": {},
};

/** A home with workers, projects and folders for the rows: some stopped, one running, one renamed, one retired. */
export class BadInputHome {
  readonly home = new Home();

  async prepare(): Promise<void> {
    const { home } = this;
    for (const [folder, files] of Object.entries(FOLDERS)) this.#folder(folder, files);
    this.#folder("lib", {});
    mkdirSync(join(home.dir, "folder-as-file", "perdure.toml"), { recursive: true });
    this.#folder("user-config/perdure", { "config.toml": 'nmae = "x"\n' });
    writeFileSync(join(home.dir, "taken.db"), "precious");
    writeFileSync(join(home.project, "script"), "#!/bin/sh\n", { mode: 0o600 });
    mkdirSync(join(home.dir, "open-state"));
    chmodSync(join(home.dir, "open-state"), 0o777);
    mkdirSync(join(home.dir, "real-state"), { mode: 0o700 });
    symlinkSync("real-state", join(home.dir, "linked-state"));

    await home.perdure(["run", "coder", "--", "true"]);
    await home.perdure(["run", "maker", "--", "true"]);
    await home.perdure(["run", "gone", "--", "true"]);
    await home.perdure(["run", "lender", "--", "true"], { cwd: join(home.dir, "lib") });
    await home.perdure(["rename", "maker", "builder"]);
    await home.perdure(["retire", "gone"]);
    await home.start("sleeper", ["sleep", "600"]);
    for (const name of ["coder", "builder"]) await home.until(name, ({ state }) => state === "stopped");
  }

  /** A copy of every row of every table and every file of every folder: bad input must change none of it. */
  snapshot(): { store: Record<string, unknown[]>; files: Record<string, string>; runs: string[] } {
    const files: Record<string, string> = {};
    for (const entry of readdirSync(this.home.dir, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (path.startsWith(join(this.home.dir, ".local"))) continue;
      files[path] = entry.isFile() ? readFileSync(path, "utf8") : entry.isDirectory() ? "folder" : "other";
    }
    const runs = readdirSync(join(this.home.state, "runs")).toSorted();
    return { store: dumpStore(join(this.home.state, "perdure.db")), files, runs };
  }

  #folder(name: string, files: Record<string, string>): void {
    const folder = join(this.home.dir, name);
    mkdirSync(folder, { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  }
}

function dumpStore(file: string): Record<string, unknown[]> {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
    return Object.fromEntries(
      tables.map(({ name }) => [String(name), db.prepare(`SELECT * FROM "${String(name)}"`).all()]),
    );
  } finally {
    db.close();
  }
}
