import type { ProcessInfo, ProcessTable } from "./types.ts";

type RunTool = (file: string, args: string[]) => string;

/** Runs `ps` and `sysctl`. It was written from their manuals and tested on text of that form, not yet on a Mac. */
export function macosProcesses(run: RunTool = runQuietly): ProcessTable {
  let boot: string | undefined;
  const bootId = (): string => (boot ??= run("/usr/sbin/sysctl", ["-n", "kern.bootsessionuuid"]).trim());
  const list = (args: string[]): ProcessInfo[] =>
    run("/bin/ps", [...args, "-o", "pid=,ppid=,stat=,lstart=,ucomm="])
      .split("\n")
      .map((line) => parseLine(line, bootId()))
      .filter((info) => info !== null);

  return {
    bootId,
    // macOS has no pid namespaces.
    namespace: () => "",
    seesEveryNamespace: () => true,
    inspect: (pid) => list(["-p", String(pid)])[0] ?? null,
    variable: (pid, name) => variableIn(run("/bin/ps", ["-E", "-ww", "-o", "command=", "-p", String(pid)]), name),
    argv: (pid) =>
      run("/bin/ps", ["-ww", "-o", "command=", "-p", String(pid)])
        .trim()
        .split(" "),
    children: (pid) => numbers(run("/usr/bin/pgrep", ["-P", String(pid)])),
    openFiles: (pid) =>
      run("/usr/sbin/lsof", ["-a", "-p", String(pid), "-Fn"])
        .split("\n")
        .filter((line) => line.startsWith("n/"))
        .map((line) => line.slice(1)),
    // Asked about several files at once, lsof fails if one of them is not open.
    openAmong: (files) => files.filter((file) => numbers(run("/usr/sbin/lsof", ["-t", "--", file])).length > 0),
    // macOS does not tell who holds a lock, so every process with the file open counts.
    lockHolders: (file) => Promise.resolve(numbers(run("/usr/sbin/lsof", ["-t", "--", file]))),
    commandLines() {
      const rows = run("/bin/ps", ["-ww", "-U", String(process.getuid?.() ?? 0), "-o", "pid=,command="]);
      return rows.split("\n").flatMap((row) => {
        const [, pid, command] = /^\s*(\d+)\s+(.*)$/.exec(row) ?? [];
        return pid === undefined || command === undefined ? [] : [{ pid: Number(pid), argv: command.split(" ") }];
      });
    },
    withVariable(name, value) {
      const rows = run("/bin/ps", ["-E", "-ww", "-U", String(process.getuid?.() ?? 0), "-o", "pid=,command="]).split(
        "\n",
      );
      const pids = rows.filter((row) => variableIn(row, name) === value).map((row) => String(parseInt(row, 10)));
      return pids.length === 0 ? [] : list(["-p", pids.join(",")]);
    },
  };
}

function numbers(text: string): number[] {
  return text.split("\n").filter(Boolean).map(Number);
}

/** Parses `  501     1 S+   Sun Nov 15 20:28:01 2026     claude`. */
function parseLine(line: string, bootId: string): ProcessInfo | null {
  const match = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\w+ +\w+ +\d+ +[\d:]+ +\d+)\s+(.*)$/.exec(line);
  if (!match) return null;
  const [, pid = "", parentPid = "", stat = "", startedAt = "", command = ""] = match;
  if (stat.startsWith("Z")) return null;
  return {
    pid: Number(pid),
    startedAt: startedAt.replace(/ +/g, " "),
    bootId,
    namespace: "",
    parentPid: Number(parentPid),
    suspended: stat.startsWith("T"),
    command: command.trim(),
  };
}

/** Finds a variable in the output of `ps -E`, which separates with spaces: a value ends where the next name begins. */
function variableIn(text: string, name: string): string | null {
  const match = new RegExp(`(?:^|\\s)${name}=(.*?)(?=\\s[A-Za-z_][A-Za-z0-9_]*=|\\s*$)`).exec(text);
  return match?.[1] ?? null;
}

function runQuietly(file: string, args: string[]): string {
  try {
    const { execFileSync } = process.getBuiltinModule("node:child_process"); // 5 ms of every start on Linux otherwise
    return execFileSync(file, args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      // `lstart` is written in the caller's language and zone otherwise, and compared as text.
      env: { LC_ALL: "C", TZ: "UTC" },
    });
  } catch {
    // `ps -p` exits with 1 for a pid that does not exist, which is an answer.
    return "";
  }
}
