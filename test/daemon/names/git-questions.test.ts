import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { commitsIn, rootCommits } from "../../../src/project/fingerprint.ts";
import { recordHistory } from "../../../src/daemon/names/fingerprints.ts";
import { movedHere } from "../../../src/daemon/names/moved.ts";
import type { Db } from "../../../src/store/db.ts";
import { openStore } from "../../../src/store/open.ts";
import { insertProject, projectById, setRootCommits } from "../../../src/store/projects.ts";
import { insertWorker } from "../../../src/store/workers.ts";
import { Writer } from "../../../src/store/writer.ts";

// How often the daemon starts git: a program of that name, first on the path, counts.

let folder: string;
let repository: string;
let db: Db;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "perdure-git-")));
  db = openStore(join(folder, "perdure.db")).db;
  repository = join(folder, "api");
  mkdirSync(repository);
  git("init", "-q");
  mkdirSync(join(folder, "bin"));
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const counting = `#!/bin/sh\necho started >> '${join(folder, "started")}'\nexec '${real}' "$@"\n`;
  writeFileSync(join(folder, "bin", "git"), counting, { mode: 0o755 });
  vi.stubEnv("PATH", `${join(folder, "bin")}:${process.env.PATH}`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  db.close();
  rmSync(folder, { recursive: true });
});

function git(...words: string[]): string {
  const identity = ["-c", "user.name=n", "-c", "user.email=e@localhost"];
  return execFileSync("git", [...identity, ...words], { cwd: repository, encoding: "utf8" }).trim();
}

function commit(): string {
  git("commit", "-q", "--allow-empty", "-m", "first");
  return git("rev-parse", "HEAD");
}

function startsOfGit(): number {
  const file = join(folder, "started");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").length : 0;
}

/** A project with a worker, of a repository that is no longer there. */
function goneProject(slug: string, commits: readonly string[]): void {
  const root = join(folder, "gone", slug);
  const id = insertProject(db, { slug, slugKey: slug, identity: join(root, ".git"), root, createdMs: 0 });
  setRootCommits(db, id, commits);
  insertWorker(db, { projectId: id, name: "coder", nameKey: "coder", createdMs: 0, ephemeral: false });
}

test("A4: git is started a few times, however many projects are gone", async () => {
  const root = commit();
  const other = (n: number): string => n.toString(16).padStart(40, "0");
  db.exec("BEGIN");
  for (let n = 1; n <= 600; n++) goneProject(`other-${n}`, [other(n)]);
  goneProject("half", [root, other(1)]);
  goneProject("same", [root]);
  db.exec("COMMIT");
  const here = { identity: join(repository, ".git"), root: repository, base: "api" };
  const before = startsOfGit();
  const moved = await movedHere({ db, now: Date.now }, { project: null, here });
  expect(moved.map(({ slug }) => slug)).toEqual(["same"]);
  expect(startsOfGit() - before).toBe(2);
});

test("A4: a repository without commits is asked for them again when it may have one, and a folder without git never", async () => {
  const writer = new Writer(db, { onCommit: () => undefined, onFailure: () => undefined });
  const services = { db, writer, monotonicMs: () => 0, log: () => undefined };
  const projectOf = (slug: string, identity: string): number =>
    insertProject(db, { slug, slugKey: slug, identity, root: identity, createdMs: 0 });
  const project = projectOf("api", join(repository, ".git"));
  const plain = projectOf("plain", join(folder, "bin"));
  for (let n = 0; n < 5; n++) {
    await recordHistory(services, plain);
    await recordHistory(services, project);
  }
  expect(startsOfGit()).toBe(1);

  const root = commit();
  await recordHistory(services, project);
  expect(projectById(db, project)?.rootCommits).toEqual([root]);
  const known = startsOfGit();
  await recordHistory(services, project);
  expect(startsOfGit()).toBe(known);
});

test("A4: a first commit that no more than a branch shows is found", async () => {
  const writer = new Writer(db, { onCommit: () => undefined, onFailure: () => undefined });
  const services = { db, writer, monotonicMs: () => 0, log: () => undefined };
  const identity = join(repository, ".git");
  const project = insertProject(db, { slug: "api", slugKey: "api", identity, root: repository, createdMs: 0 });
  await recordHistory(services, project);
  const root = git("commit-tree", git("hash-object", "-t", "tree", "-w", "/dev/null"), "-m", "first");
  git("update-ref", "HEAD", root);
  await recordHistory(services, project);
  expect(projectById(db, project)?.rootCommits).toEqual([root]);
});

test.each([
  ["HEAD", "fifo"],
  ["config", "fifo"],
  ["shallow", "/dev/zero"],
  ["packed-refs", "fifo"],
  ["info/grafts", "/dev/zero"],
  ["objects/info/alternates", "/dev/zero"],
  ["refs/heads/elsewhere", "/dev/zero"],
  ["refs/heads/elsewhere", "fifo"],
])("B2: git is not started in a repository whose %s is %s", async (name, thing) => {
  const asked = commit();
  git("symbolic-ref", "refs/heads/named", "refs/heads/elsewhere");
  if (name.endsWith("elsewhere")) git("symbolic-ref", "HEAD", "refs/heads/named");
  const file = join(repository, ".git", name);
  rmSync(file, { force: true });
  if (thing === "fifo") execFileSync("mkfifo", [file]);
  else symlinkSync(thing, file);
  const before = startsOfGit();
  expect(await rootCommits(join(repository, ".git"))).toBeNull();
  expect(await commitsIn(join(repository, ".git"), [asked])).toEqual(new Set());
  expect(startsOfGit()).toBe(before);
});

test("B2: git has a bound on its memory, on its processor time and on its core", async () => {
  const seen = join(folder, "seen");
  execFileSync("mkfifo", [seen]);
  const telling = `#!/bin/sh\n{ ulimit -v; ulimit -t; ulimit -c; } > '${seen}'\n`;
  writeFileSync(join(folder, "bin", "git"), telling, { mode: 0o755 });
  const told = readFile(seen, "utf8");
  await rootCommits(join(repository, ".git"));
  const [memory, seconds, core] = (await told).trim().split("\n").map(Number);
  expect(memory).toBeGreaterThan(0);
  expect(memory).toBeLessThanOrEqual(1024 * 1024);
  expect(seconds).toBeLessThanOrEqual(5);
  expect(core).toBe(0);
});

test("B2: git runs no program that the repository's configuration names, fetching what a partial clone lacks included", async () => {
  const root = commit();
  const ran = join(folder, "ran");
  const evil = join(folder, "evil");
  writeFileSync(evil, `#!/bin/sh\ntouch '${ran}'\n`, { mode: 0o755 });
  // A git from before GIT_NO_LAZY_FETCH, as far as that goes.
  const counting = readFileSync(join(folder, "bin", "git"), "utf8");
  writeFileSync(join(folder, "bin", "git"), counting.replace("exec", "unset GIT_NO_LAZY_FETCH\nexec"));
  const missing = "1".repeat(40);
  const settings = {
    "core.repositoryFormatVersion": "1",
    "extensions.partialClone": "origin",
    "remote.origin.promisor": "true",
    "remote.origin.uploadpack": evil,
    "protocol.allow": "always",
    "protocol.ext.allow": "always",
    "protocol.file.allow": "always",
    "core.sshCommand": evil,
    "core.fsmonitor": evil,
    "core.gitProxy": evil,
    "core.pager": evil,
    "core.askPass": evil,
    "credential.helper": evil,
    "diff.external": evil,
    "gpg.program": evil,
    "alias.rev-list": `!${evil}`,
    "alias.cat-file": `!${evil}`,
  };
  for (const [key, value] of Object.entries(settings)) git("config", key, value);
  for (const url of [repository, `ext::${evil} %S`, "ssh://localhost/x", "git://localhost/x"]) {
    git("config", "remote.origin.url", url);
    expect(await rootCommits(join(repository, ".git"))).toEqual([root]);
    expect(await commitsIn(join(repository, ".git"), [root])).toEqual(new Set([root]));
    // Such a git may give up when it is not let fetch; then nothing is known, and nothing was run.
    await commitsIn(join(repository, ".git"), [missing, root]);
  }
  expect(existsSync(ran)).toBe(false);
});
