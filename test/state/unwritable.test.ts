import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Unwritable } from "../../src/protocol/records/conversation.ts";
import { unwritableAt } from "../../src/state/unwritable.ts";
import { cannotLock, lock, LOCKED_WHY } from "../support/unwritable.ts";

const folders: string[] = [];
const locks: (() => void)[] = [];

afterEach(() => {
  for (const unlock of locks.splice(0)) unlock();
  for (const dir of folders.splice(0)) rmSync(dir, { recursive: true });
});

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "perdure-unwritable-"));
  folders.push(dir);
  return dir;
}

function fileIn(dir: string): string {
  const file = join(dir, "transcript");
  writeFileSync(file, "said\n");
  return file;
}

/** Asks in a process of its own, behind these words. */
function askedBehind(words: readonly string[], path: string): Unwritable | null {
  const script = `import { unwritableAt } from ${JSON.stringify(resolve("src/state/unwritable.ts"))};
console.log(JSON.stringify(unwritableAt(${JSON.stringify(path)})));`;
  const [program, ...args] = [...words, process.execPath, "--input-type=module", "-e", script];
  return JSON.parse(execFileSync(program, args, { encoding: "utf8" })) as Unwritable | null;
}

test("what can be written is left as it is, to its times", () => {
  const dir = folder();
  const file = fileIn(dir);
  const times = (): bigint[] =>
    [file, dir].flatMap((path) => {
      const { mtimeNs, ctimeNs } = statSync(path, { bigint: true });
      return [mtimeNs, ctimeNs];
    });
  const before = times();
  expect(unwritableAt(file)).toBeNull();
  expect(unwritableAt(dir)).toBeNull();
  expect(unwritableAt(join(dir, "not", "there"))).toBeNull();
  expect(times()).toEqual(before);
});

test("a file that cannot be appended to is named, with the reason", ({ skip }) => {
  const why = cannotLock();
  skip(why !== null, why ?? "");
  const dir = folder();
  const file = fileIn(dir);
  locks.push(lock(file));
  expect(unwritableAt(file)).toMatchObject({ path: file, isFolder: false, isOwn: true, why: LOCKED_WHY });
  expect(unwritableAt(join(dir, "another"))).toBeNull();
});

test("of a file that is not there, the nearest folder decides", ({ skip }) => {
  const why = cannotLock();
  skip(why !== null, why ?? "");
  const dir = folder();
  const file = fileIn(dir);
  locks.push(lock(dir));
  for (const path of [dir, join(dir, "another"), join(dir, "not", "there")])
    expect(unwritableAt(path)).toMatchObject({ path: dir, isFolder: true, isOwn: true, why: LOCKED_WHY });
  expect(unwritableAt(file)).toBeNull();
});

test("a fifo that nobody reads is not waited for", () => {
  const fifo = join(folder(), "fifo");
  execFileSync("mkfifo", [fifo]);
  expect(unwritableAt(fifo)).toBeNull();
});

test("a read-only file system is known by its name", ({ skip }) => {
  const dir = folder();
  const file = fileIn(dir);
  const rights = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
  const enter = `mount --bind '${dir}' '${dir}' && mount -o remount,bind,ro '${dir}' && exec "$@"`;
  const words = ["unshare", ...rights, "--mount", "sh", "-c", enter, "sh"];
  const { status, stderr } = spawnSync("unshare", [...words.slice(1), "true"], { encoding: "utf8" });
  skip(status !== 0, `nothing can be mounted here: ${stderr}`);
  const said = { code: "EROFS", why: "read-only file system" };
  expect(askedBehind(words, file)).toMatchObject({ path: file, isFolder: false, ...said });
  expect(askedBehind(words, join(dir, "another"))).toMatchObject({ path: dir, isFolder: true, ...said });
});

test("to another user, whose files they are counts, and a closed folder stands for all below it", ({ skip }) => {
  skip(process.getuid?.() !== 0, "becoming another user takes root");
  const words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
  const { status, stderr } = spawnSync(words[0] ?? "", [...words.slice(1), process.execPath, "--version"], {
    encoding: "utf8",
  });
  skip(status !== 0, `another user cannot run Node here: ${stderr}`);
  const dir = folder();
  chmodSync(dir, 0o755);
  const file = fileIn(dir);
  const denied = { code: "EACCES", why: "permission denied", isOwn: false };
  expect(askedBehind(words, file)).toMatchObject({ path: file, ...denied });
  expect(askedBehind(words, join(dir, "another"))).toMatchObject({ path: dir, isFolder: true, ...denied });
  chownSync(file, 65_534, 65_534);
  expect(askedBehind(words, file)).toBeNull();
  chmodSync(file, 0o400);
  expect(askedBehind(words, file)).toMatchObject({ path: file, ...denied, isOwn: true });
  const closed = join(dir, "closed");
  mkdirSync(closed, { mode: 0o700 });
  expect(askedBehind(words, fileIn(closed))).toMatchObject({ path: closed, isFolder: true, ...denied });
});
