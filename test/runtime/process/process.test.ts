import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isAlive, isRunProcess, processTable } from "../../../src/runtime/process/index.ts";
import { linuxProcesses } from "../../../src/runtime/process/linux.ts";
import { macosProcesses } from "../../../src/runtime/process/macos.ts";
import { signalRunProcess } from "../../../src/runtime/process/signal.ts";

let proc: string;
beforeEach(() => {
  proc = mkdtempSync(join(tmpdir(), "perdure-proc-"));
  mkdirSync(join(proc, "sys/kernel/random"), { recursive: true });
  writeFileSync(join(proc, "sys/kernel/random/boot_id"), "boot-1\n");
});
afterEach(() => rmSync(proc, { recursive: true }));

/** A process as `/proc` shows it; field 22 is the start time. */
function plant(pid: number, command: string, state: string, started: number, environ = ""): void {
  mkdirSync(join(proc, String(pid)));
  const after = [state, "1", ...Array.from({ length: 17 }, () => "0"), String(started), "0", "0"].join(" ");
  writeFileSync(join(proc, String(pid), "stat"), `${pid} (${command}) ${after}\n`);
  writeFileSync(join(proc, String(pid), "environ"), environ);
}

test.each(["sleep", "a b", "we) (ird", "1 (x) S 2", ""])("a process called %j is read right", (command) => {
  plant(7, command, "S", 4711);
  const id = { pid: 7, startedAt: "4711", bootId: "boot-1", namespace: "pid:[unknown] unknown" };
  const seen = { ...id, command, parentPid: 1, suspended: false };
  expect(linuxProcesses(proc).inspect(7)).toEqual(seen);
});

test("a stopped process is suspended; a dead one that waits to be reaped is none", () => {
  plant(7, "x", "T", 1);
  plant(8, "x", "Z", 1);
  plant(9, "x", "X", 1);
  const table = linuxProcesses(proc);
  expect(table.inspect(7)).toMatchObject({ suspended: true });
  expect([table.inspect(8), table.inspect(9), table.inspect(10)]).toEqual([null, null, null]);
});

test("a variable is found by its whole name and its whole value", () => {
  plant(7, "x", "S", 1, "XPERDURE_RUN=no\0PERDURE_RUN=h.p.w.1\0A=b=c\0EMPTY=\0");
  plant(8, "x", "S", 1, "PERDURE_RUN=h.p.w.10\0");
  plant(9, "x", "S", 1, "NOTE=see PERDURE_RUN=h.p.w.1\0");
  const table = linuxProcesses(proc);
  expect(table.variable(7, "PERDURE_RUN")).toBe("h.p.w.1");
  expect([
    table.variable(7, "A"),
    table.variable(7, "EMPTY"),
    table.variable(7, "RUN"),
    table.variable(99, "A"),
  ]).toEqual(["b=c", "", null, null]);
  expect(table.withVariable("PERDURE_RUN", "h.p.w.1").map(({ pid }) => pid)).toEqual([7]);
});

test("a reused pid is another process: start time, boot, pid namespace and run all count", () => {
  plant(7, "x", "S", 100, "PERDURE_RUN=mine\0PERDURE_SOCKET=/here\0");
  const table = linuxProcesses(proc);
  const id = { pid: 7, startedAt: "100", bootId: "boot-1", namespace: null };
  expect(isAlive(table, id)).toBe(true);
  expect(isAlive(table, { ...id, startedAt: "99" })).toBe(false);
  expect(isAlive(table, { ...id, bootId: "boot-0" })).toBe(false);
  expect(isAlive(table, { ...id, namespace: table.namespace() })).toBe(true);
  expect(isAlive(table, { ...id, namespace: "pid:[4026532300] 42" })).toBe(false);
  expect(isRunProcess(table, id, { run: "mine", socket: "/here" })).toBe(true);
  expect(isRunProcess(table, id, { run: "theirs", socket: "/here" })).toBe(false);
  expect(isRunProcess(table, id, { run: "mine", socket: "/another/state/folder" })).toBe(false);
});

test("a process that does not carry the run is never signalled", () => {
  const table = processTable();
  const self = table.inspect(process.pid) ?? { pid: 0, startedAt: "", bootId: "", namespace: null };
  expect(self.pid).toBe(process.pid);
  expect(signalRunProcess(table, self, { run: "some.run.of.1", socket: "/here" }, "SIGKILL")).toBe(false);
});

const PS = `    1     0 Ss   Sun Nov  1 08:00:00 2026     launchd
  501     1 S+   Sun Nov 15 20:28:01 2026     claude
  502   501 T    Sun Nov 15 20:28:02 2026     Google Chrome He
  503   501 Z    Sun Nov 15 20:28:02 2026     (sh)
`;
const PS_E = `  501 claude --model opus HOME=/Users/me PERDURE_RUN=mac.api.coder.1 LANG=C
  502 /Applications/Google Chrome Helper XPERDURE_RUN=mac.api.coder.1
  503 sh PERDURE_RUN=mac.api.coder.10
`;

/** Answers like `ps` and `sysctl`, from recorded text. */
function mac(file: string, args: string[]): string {
  if (file.endsWith("sysctl")) return "6E1B1C5E-BOOT\n";
  const wanted = args[args.indexOf("-p") + 1]?.split(",") ?? [];
  const only = (text: string): string =>
    args.includes("-p")
      ? text
          .split("\n")
          .filter((line) => wanted.includes(line.trim().split(" ")[0] ?? ""))
          .join("\n")
      : text;
  return args.includes("-E") ? only(PS_E) : only(PS);
}

test("on macOS a line of ps is read right, names with spaces among them", () => {
  const table = macosProcesses(mac);
  expect(table.inspect(501)).toEqual({
    pid: 501,
    parentPid: 1,
    startedAt: "Sun Nov 15 20:28:01 2026",
    bootId: "6E1B1C5E-BOOT",
    namespace: "",
    suspended: false,
    command: "claude",
  });
  expect(table.inspect(1)).toMatchObject({ startedAt: "Sun Nov 1 08:00:00 2026" });
  expect(table.inspect(502)).toMatchObject({ suspended: true, command: "Google Chrome He" });
  expect([table.inspect(503), table.inspect(999)]).toEqual([null, null]);
});

test("the command lines of all of our processes are read", async () => {
  const word = randomUUID();
  const child = spawn("sh", ["-c", "echo; read x", "sh", word], { stdio: ["pipe", "pipe", "ignore"] });
  await once(child.stdout, "data");
  const argv = ["sh", "-c", "echo; read x", "sh", word];
  const lines = processTable().commandLines();
  expect(lines.filter((line) => line.argv.includes(word))).toEqual([{ pid: child.pid, argv }]);
  expect(lines.map(({ pid }) => pid)).toContain(process.pid);
  expect(lines.filter((line) => line.argv.length === 0)).toEqual([]);
  child.stdin.end();
  await once(child, "exit");
});

test("on macOS the command lines of all of our processes are read", () => {
  const rows = `  501 node /usr/local/bin/gemini --resume 5c1d\n12502 vim notes.md\n`;
  expect(macosProcesses(() => rows).commandLines()).toEqual([
    { pid: 501, argv: ["node", "/usr/local/bin/gemini", "--resume", "5c1d"] },
    { pid: 12502, argv: ["vim", "notes.md"] },
  ]);
});

test("on macOS a run is found by its whole variable", () => {
  const table = macosProcesses(mac);
  expect(table.variable(501, "PERDURE_RUN")).toBe("mac.api.coder.1");
  expect(table.variable(502, "PERDURE_RUN")).toBeNull();
  expect(table.withVariable("PERDURE_RUN", "mac.api.coder.1").map(({ pid }) => pid)).toEqual([501]);
  expect(table.withVariable("PERDURE_RUN", "none")).toEqual([]);
});

test("on macOS children, open files and lock holders are read from pgrep and lsof", async () => {
  const LSOF =
    "p501\nfcwd\nn/Users/me/api\nf3\nn/Users/me/.v/a b.lock\nf4\nn->0x9f3c\nf5\nn127.0.0.1:52100->127.0.0.1:443\n";
  const asked: string[] = [];
  const table = macosProcesses((file, args) => {
    asked.push([file, ...args].join(" "));
    if (file.endsWith("pgrep")) return "502\n503\n";
    return args.includes("-t") ? "501\n" : LSOF;
  });
  expect(table.children(501)).toEqual([502, 503]);
  expect(table.openFiles(501)).toEqual(["/Users/me/api", "/Users/me/.v/a b.lock"]);
  expect(await table.lockHolders("/Users/me/.v/a b.lock")).toEqual([501]);
  expect(table.openAmong(["/Users/me/.v/a b.lock"])).toEqual(["/Users/me/.v/a b.lock"]);
  expect(asked).toEqual([
    "/usr/bin/pgrep -P 501",
    "/usr/sbin/lsof -a -p 501 -Fn",
    "/usr/sbin/lsof -t -- /Users/me/.v/a b.lock",
    "/usr/sbin/lsof -t -- /Users/me/.v/a b.lock",
  ]);
  const nothing = macosProcesses(() => "");
  expect([
    nothing.children(1),
    nothing.openFiles(1),
    await nothing.lockHolders("/x"),
    nothing.openAmong(["/x"]),
  ]).toEqual([[], [], [], []]);
});

test("a process that is asked about again and again is gone as soon as it has ended", async () => {
  const child = spawn("sleep", ["600"]);
  const pid = child.pid ?? 0;
  const table = linuxProcesses();
  const seen = [1, 2, 3].map(() => table.inspect(pid)?.startedAt);
  expect(new Set(seen).size).toBe(1);
  expect(seen[0]).toMatch(/^\d+$/);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect([table.inspect(pid), table.inspect(pid)]).toEqual([null, null]);
});

test("a process that is suspended between two questions is seen to be", async () => {
  const child = spawn("sleep", ["600"]);
  const pid = child.pid ?? 0;
  const table = linuxProcesses();
  await expect.poll(() => table.inspect(pid)?.command).toBe("sleep");
  expect(table.inspect(pid)).toMatchObject({ suspended: false });
  child.kill("SIGSTOP");
  await expect.poll(() => table.inspect(pid)?.suspended).toBe(true);
  child.kill("SIGKILL");
  await once(child, "exit");
});
