import { closeSync, openSync, readdirSync, readlinkSync, readSync, realpathSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isErrno } from "../../state/files.ts";
import { statFiles } from "./stat-files.ts";
import type { ProcessInfo, ProcessTable } from "./types.ts";

/** Reads `/proc` directly: `inspect` costs some 10 µs, a spawned `ps` would cost 10 ms. */
export function linuxProcesses(proc = "/proc", bootFile = `${proc}/sys/kernel/random/boot_id`): ProcessTable {
  let boot: string | undefined;
  const bootId = (): string => (boot ??= (read(bootFile) ?? "unknown").trim());

  let known: string | undefined;
  const namespace = (): string => (known ??= readNamespace(proc));

  const statOf = statFiles(proc);
  const inspect = (pid: number): ProcessInfo | null => {
    const stat = statOf(pid);
    return stat === null ? null : parseStat(stat, bootId(), namespace());
  };

  // Raw bytes: an environment need not be UTF-8, and one wrong byte must not hide the rest.
  const environment = (pid: number): string => `\0${read(`${proc}/${pid}/environ`) ?? ""}`;

  const argv = (pid: number): string[] =>
    fromBytes(read(`${proc}/${pid}/cmdline`) ?? "")
      .split("\0")
      .slice(0, -1);

  return {
    bootId,
    namespace,
    seesEveryNamespace: () => namespace().startsWith(INITIAL_NAMESPACE),
    inspect,
    variable(pid, name) {
      const text = environment(pid);
      const start = text.indexOf(`\0${name}=`);
      if (start < 0) return null;
      const from = start + name.length + 2;
      const end = text.indexOf("\0", from);
      return fromBytes(text.slice(from, end < 0 ? undefined : end));
    },
    argv,
    // Each thread lists the children that it forked itself.
    children(pid) {
      const childLists = entries(`${proc}/${pid}/task`).map((task) => read(`${proc}/${pid}/task/${task}/children`));
      // Kernels without these lists: every process is asked for its parent.
      if (childLists.every((text) => text === null))
        return pids(proc).filter((each) => inspect(each)?.parentPid === pid);
      return childLists.flatMap((text) => (text ?? "").split(" ").filter(Boolean).map(Number));
    },
    openFiles: (pid) => openFiles(`${proc}/${pid}/fd`),
    openAmong(files) {
      const own = pids(proc).filter((pid) => isOwnProcess(`${proc}/${pid}`));
      const opened = new Set(own.flatMap((pid) => openFiles(`${proc}/${pid}/fd`)));
      return files.filter((file) => opened.has(file));
    },
    async lockHolders(file) {
      const node = statSync(file, { throwIfNoEntry: false })?.ino;
      if (node === undefined) return [];
      const held = lockLines(await readBeside(`${proc}/locks`)).filter((lock) => lock.node === node);
      if (held.length === 0) return [];
      // Another file system may have a file with the same inode: the holder has this path open.
      const path = realPathIfThere(file);
      const opened = (pid: number): boolean => openFiles(`${proc}/${pid}/fd`).includes(path ?? "");
      const named = [...new Set(held.map((lock) => lock.pid))].filter(opened);
      if (named.length > 0) return named;
      // The process that took the lock may have ended and left it to those that share its open file: the topmost counts.
      const sharing = new Set(pids(proc).filter((pid) => isOwnProcess(`${proc}/${pid}`) && opened(pid)));
      return [...sharing].filter((pid) => !sharing.has(inspect(pid)?.parentPid ?? 0));
    },
    commandLines: () =>
      pids(proc)
        .filter((pid) => isOwnProcess(`${proc}/${pid}`))
        .map((pid) => ({ pid, argv: argv(pid) }))
        .filter((line) => line.argv.length > 0), // ended processes and kernel threads have none
    withVariable(name, value) {
      const needle = `\0${name}=${toBytes(value)}\0`;
      const found: ProcessInfo[] = [];
      for (const pid of pids(proc)) {
        if (!isOwnProcess(`${proc}/${pid}`) || !environment(pid).includes(needle)) continue;
        const info = inspect(pid);
        if (info) found.push(info);
      }
      return found;
    },
  };
}

function toBytes(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

function fromBytes(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** The start time's place among the fields after the command, of which the state is the first. */
const STARTED_FIELD = 19;

/** Parses `pid (comm) state ppid …`: comm may contain spaces and parentheses, so the last one counts. */
function parseStat(stat: string, bootId: string, namespace: string): ProcessInfo | null {
  const close = stat.lastIndexOf(")");
  const open = stat.indexOf("(");
  // The fields after the command, up to the start time, without a list of all fifty: every process is read once a second.
  const state = stat.charAt(close + 2);
  if (state === "Z" || state === "X" || state === "x") return null;
  const parentAt = close + 4;
  let startedAt = parentAt;
  for (let field = 1; field < STARTED_FIELD; field++) startedAt = stat.indexOf(" ", startedAt) + 1;
  return {
    pid: Number(stat.slice(0, open - 1)),
    startedAt: stat.slice(startedAt, stat.indexOf(" ", startedAt)),
    bootId,
    namespace,
    parentPid: Number(stat.slice(parentAt, stat.indexOf(" ", parentAt))),
    suspended: state === "T" || state === "t",
    command: stat.slice(open + 1, close),
  };
}

/** The kernel gives this number to the namespace that it starts with, which has the processes of all others, too. */
const INITIAL_NAMESPACE = "pid:[4026531836]";

/**
 * Returns the kernel's number of the pid namespace, with the start time of its first process: a namespace that is gone leaves
 * its number to the next one.
 */
function readNamespace(proc: string): string {
  const [link] = links(`${proc}/self/ns/pid`);
  const first = /\) (?:\S+ ){19}(\d+)/.exec(read(`${proc}/1/stat`) ?? "")?.[1];
  return `${link ?? "pid:[unknown]"} ${first ?? "unknown"}`;
}

/** Parses `1: FLOCK  ADVISORY  WRITE 4711 fe:01:393222 0 EOF`; a lock that is waited for has `->` before its kind. */
function lockLines(text: string): { pid: number; node: number }[] {
  return text.split("\n").flatMap((line) => {
    const match = /^\d+: (?:FLOCK|POSIX|OFDLCK) +\S+ +WRITE +(\d+) [^:]+:[^:]+:(\d+) /.exec(line);
    return match ? [{ pid: Number(match[1]), node: Number(match[2]) }] : [];
  });
}

function realPathIfThere(file: string): string | null {
  try {
    return realpathSync.native(file);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return null; // removed since the last read
    throw error;
  }
}

function openFiles(folder: string): string[] {
  return entries(folder).flatMap((entry) => links(`${folder}/${entry}`));
}

/** Returns the target of a link; nothing where it is gone or may not be read. */
function links(path: string): string[] {
  try {
    return [readlinkSync(path)];
  } catch (error) {
    if (isErrno(error, "ENOENT", "ESRCH", "EACCES", "EPERM")) return [];
    throw error;
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ESRCH", "EACCES", "EPERM")) return [];
    throw error;
  }
}

function pids(proc: string): number[] {
  return readdirSync(proc)
    .filter((entry) => /^[0-9]+$/.test(entry))
    .map(Number);
}

/** Tells whether the process may be read; other users' environments may not, and asking first saves a failed open. */
function isOwnProcess(folder: string): boolean {
  try {
    return statSync(folder).uid === process.getuid?.() || process.getuid?.() === 0;
  } catch (error) {
    if (isErrno(error, "ENOENT", "ESRCH")) return false;
    throw error;
  }
}

/** Reads a file beside the event loop: to list its locks, the kernel may wait 10 to 20 ms for every processor. */
async function readBeside(file: string): Promise<string> {
  try {
    return await readFile(file, "latin1");
  } catch (error) {
    if (isErrno(error, "ENOENT", "EACCES", "EPERM")) return "";
    throw error;
  }
}

/** One buffer serves all reads, because none awaits anything; there are thousands of reads a minute. */
const CHUNK = Buffer.allocUnsafe(64 * 1024);

function read(file: string): string | null {
  let fd: number | null = null;
  try {
    fd = openSync(file, "r");
    let text = "";
    for (;;) {
      const bytes = readSync(fd, CHUNK, 0, CHUNK.length, null);
      if (bytes === 0) return text;
      text += CHUNK.toString("latin1", 0, bytes);
    }
  } catch (error) {
    if (isErrno(error, "ENOENT", "ESRCH", "EACCES", "EPERM")) return null;
    throw error;
  } finally {
    if (fd !== null) closeSync(fd);
  }
}
