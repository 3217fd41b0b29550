import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findProject } from "../../../src/project/find.ts";
import { readFleet, type Fleet, type FleetWorker } from "../../../src/project/fleet/read.ts";
import { worktreeBranch, worktreePath, type Worktree } from "../../../src/project/worktree/paths.ts";
import { Home } from "../../support/home.ts";

/** A project folder in a home of its own, in which a test writes a fleet file and others. */
export class FleetProject {
  readonly home = new Home();
  readonly root = this.home.project;

  write(path: string, text: string): string {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  read(text: string, cwd = this.root): Fleet | null {
    this.write("perdure.toml", text);
    return readFleet(findProject(cwd));
  }

  worker(text: string): FleetWorker {
    const [worker] = this.read(text)?.workers ?? [];
    if (worker === undefined) throw new Error("there is no worker");
    return worker;
  }

  repository(): void {
    this.home.git(["init", "-q"]);
    this.home.git(["commit", "-q", "--allow-empty", "-m", "first"]);
  }

  /** Makes a git repository with a tracked file, and one that git ignores. */
  filledRepository(): void {
    this.write(".gitignore", ".env\nlocal/\n");
    this.write("main.txt", "committed\n");
    this.home.git(["init", "-q"]);
    this.home.git(["add", "."]);
    this.home.git(["commit", "-q", "-m", "first"]);
    this.write(".env", "KEY=sk-1\n");
  }

  /** Runs git and returns its output. */
  git(args: string[], cwd = this.root): string {
    return execFileSync("git", args, { cwd, env: this.home.env, encoding: "utf8" }).trim();
  }

  worktree(name: string): Worktree {
    return { path: worktreePath(this.root, name), branch: worktreeBranch(name), copy: [] };
  }
}

export function thrown(act: () => unknown): Error & { code?: string; hint?: string | null } {
  try {
    act();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("nothing was thrown");
}
