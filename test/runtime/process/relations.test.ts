import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { processTable } from "../../../src/runtime/process/index.ts";
import { linuxProcesses } from "../../../src/runtime/process/linux.ts";

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "perdure-proc-")));
});
afterEach(() => rmSync(dir, { recursive: true }));

const ELSEWHERE = process.platform !== "linux";

/** Starts a program in a process group of its own; it runs when its first line is here. */
async function started(program: string, args: string[]): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(program, args, { detached: true, stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void process.kill(-(child.pid ?? 0), "SIGKILL"));
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  return { child, said: said.toString() };
}

test("children are seen, and only a process's own", async ({ skip }) => {
  skip(ELSEWHERE, "only Linux has /proc");
  const { child, said } = await started("sh", ["-c", "sleep 600 & a=$!; sh -c 'sleep 600; :' & echo $a $!; wait"]);
  const table = processTable();
  expect(new Set(table.children(child.pid ?? 0))).toEqual(new Set(said.trim().split(" ").map(Number)));
  expect(table.children(process.pid)).toContain(child.pid);
  expect(linuxProcesses(dir).children(7)).toEqual([]);
});

test("children are seen whichever thread of their parent started them", async ({ skip }) => {
  skip(ELSEWHERE, "only Linux has /proc");
  const inThread = `const { spawn } = require("node:child_process");
    console.log(spawn("sleep", ["600"], { stdio: "ignore" }).pid);`;
  const main = `new (require("node:worker_threads").Worker)(${JSON.stringify(inThread)}, { eval: true });`;
  const { child, said } = await started(process.execPath, ["-e", main]);
  expect(processTable().children(child.pid ?? 0)).toEqual([Number(said)]);
});

test("open files are seen by their real paths, until they are closed", ({ skip }) => {
  skip(ELSEWHERE, "only Linux has /proc");
  const file = join(dir, "open file");
  const fd = openSync(file, "w");
  expect(processTable().openFiles(process.pid)).toContain(file);
  expect(processTable().openAmong([file, `${file}.other`])).toEqual([file]);
  closeSync(fd);
  expect(processTable().openFiles(process.pid)).not.toContain(file);
  expect(linuxProcesses(dir).openFiles(7)).toEqual([]);
});

test("a lock is its holder's: not one's who waits for it, only reads, or has the file open", async ({ skip }) => {
  skip(ELSEWHERE, "only Linux has /proc");
  const [file, other] = [join(dir, "a.lock"), join(dir, "b.lock")];
  const table = processTable();
  const { child } = await started("flock", ["-o", file, "sh", "-c", "echo held; read x"]);
  await started("sh", ["-c", `exec 9< "$0"; echo open; flock 9`, file]);
  await started("flock", ["-s", other, "sh", "-c", "echo held; read x"]);
  symlinkSync(file, join(dir, "link"));
  expect(await table.lockHolders(file)).toEqual([child.pid]);
  expect(await table.lockHolders(join(dir, "link"))).toEqual([child.pid]);
  expect([await table.lockHolders(other), await table.lockHolders(join(dir, "none"))]).toEqual([[], []]);
});

test("a lock outlives who took it, in whoever shares the open file", async ({ skip }) => {
  skip(ELSEWHERE, "only Linux has /proc");
  const file = join(dir, "a.lock");
  const { child, said } = await started("flock", [file, "sh", "-c", "echo $$; exec sleep 600"]);
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
  expect(await processTable().lockHolders(file)).toEqual([Number(said)]);
});

test("a lock on a file of the same number in another file system is not this one's", async () => {
  const file = join(dir, "a.lock");
  writeFileSync(file, "");
  const node = statSync(file).ino;
  const holding = (pid: number, path: string): void => {
    mkdirSync(join(dir, String(pid), "fd"), { recursive: true });
    symlinkSync(path, join(dir, String(pid), "fd", "3"));
  };
  holding(11, file);
  holding(12, "/another/file/system");
  holding(13, file);
  writeFileSync(
    join(dir, "locks"),
    `1: FLOCK  ADVISORY  WRITE 11 fe:01:${node} 0 EOF
2: FLOCK  ADVISORY  WRITE 12 00:2e:${node} 0 EOF
2: -> FLOCK  ADVISORY  WRITE 13 fe:01:${node} 0 EOF
3: POSIX  ADVISORY  READ  13 fe:01:${node} 0 EOF
4: LEASE  ACTIVE    WRITE 13 fe:01:${node} 0 EOF
5: OFDLCK ADVISORY  WRITE -1 fe:01:${node} 0 0
`,
  );
  expect(await linuxProcesses(dir).lockHolders(file)).toEqual([11]);
});

test("while the kernel lists its locks, others are served", async () => {
  const file = join(dir, "a.lock");
  writeFileSync(file, "");
  mkdirSync(join(dir, "11", "fd"), { recursive: true });
  symlinkSync(file, join(dir, "11", "fd", "3"));
  // The list comes from a fifo whose writer gets it from us, and gives up if it has to wait.
  execFileSync("mkfifo", [join(dir, "locks")]);
  const kernel = spawn("bash", ["-c", `read -t 5 line; echo "$line" > "$0"`, join(dir, "locks")]);
  const holders = linuxProcesses(dir).lockHolders(file);
  kernel.stdin.end(`1: FLOCK  ADVISORY  WRITE 11 fe:01:${statSync(file).ino} 0 EOF\n`);
  expect(await holders).toEqual([11]);
});
