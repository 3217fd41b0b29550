import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ALIVE_FIFO, isRunGone, runFifoState } from "../../../src/runtime/process/run-fifo.ts";
import { ignoredSignals } from "../../../src/runtime/wrapper/exec.ts";
import { detectWrapperForm, wrapperCommand, type WrapperForm } from "../../../src/runtime/wrapper/script.ts";
import { eventually } from "../../support/check.ts";

let folder: string;
let runDir: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perdure-wrapper-"));
  runDir = join(folder, "a run's folder");
  mkdirSync(runDir);
});
afterEach(() => rmSync(folder, { recursive: true }));

function run(
  form: WrapperForm,
  command: string[],
  ignored: string[] = [],
): { status: number | null; stdout: string; stderr: string } {
  const { file, args } = wrapperCommand(form, runDir, command, { ignored, openFiles: null });
  return spawnSync(file, args.slice(1), { argv0: args[0] ?? "", encoding: "utf8", input: "from stdin\n" });
}

const FORMS: WrapperForm[] = ["env", "bash", "plain"];
const show = ["/bin/sh", "-c", 'printf "<%s>" "$@"', "sh"];

test.each(FORMS)(
  "%s: the program gets its arguments, stdin and exit code untouched, and the code is left in the run's folder",
  (form) => {
    expect(run(form, [...show, "a b", "", "$x", "*", "-n"])).toMatchObject({ status: 0, stdout: "<a b><><$x><*><-n>" });
    expect(run(form, ["/bin/cat"])).toMatchObject({ status: 0, stdout: "from stdin\n" });
    expect(run(form, ["/bin/sh", "-c", "exit 9"])).toMatchObject({ status: 9 });
    expect(readFileSync(join(runDir, "exit"), "utf8")).toBe("9\n");
    expect(readdirSync(runDir)).toEqual(["exit"]);
  },
);

test.each(FORMS)("%s: the program's signals and descriptors are those of a plain shell's child", (form) => {
  const look = ["/bin/sh", "-c", "grep SigIgn /proc/self/status; ls /proc/self/fd | tr '\\n' ' '"];
  const plain = spawnSync("/bin/sh", ["-c", 'exec "$@"', "sh", ...look], { encoding: "utf8", input: "" });
  expect(run(form, look).stdout).toBe(plain.stdout);
});

test.each(FORMS)("%s: none of the wrapper's own variables reach the program", (form) => {
  expect(run(form, ["/usr/bin/env"]).stdout).not.toMatch(/^perdure_/m);
});

test.each(FORMS)("%s: a program whose path has an equals sign is run, not taken for a variable", (form) => {
  const program = join(folder, "a=b");
  writeFileSync(program, "#!/bin/sh\necho ran\n", { mode: 0o700 });
  expect(run(form, [program])).toMatchObject({ status: 0, stdout: "ran\n" });
});

/** Hears the signal, does nothing about it, and ends with what it has loaded, which tells when it is there. */
const SWALLOWING_LOADER = `trap : TERM HUP
sh -c 'echo loaded; exec sleep 1000' & c=$!
while kill -0 $c 2>/dev/null; do wait $c; done
exit 5`;

test.each(
  (["env", "bash"] as const).flatMap((form) => (["SIGTERM", "SIGHUP"] as const).map((signal) => ({ form, signal }))),
)("$form: $signal reaches the process of a loader that swallows signals", async ({ form, signal }) => {
  const { file, args } = wrapperCommand(
    form,
    runDir,
    ["/bin/sh", "-c", SWALLOWING_LOADER],
    { ignored: [], openFiles: null },
    { loaderSwallowsSignals: true },
  );
  const child = spawn(file, args.slice(1), { argv0: args[0] ?? "", stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  child.kill(signal);
  expect(await once(child, "exit")).toEqual([5, null]);
  expect(readFileSync(join(runDir, "exit"), "utf8")).toBe("5\n");
});

test.each(FORMS)("%s: signals the caller had ignored stay ignored", (form) => {
  const { stdout } = run(form, ["/bin/sh", "-c", "grep SigIgn /proc/self/status"], ["HUP", "INT"]);
  expect(ignoredSignals(/SigIgn:\s*(\w+)/.exec(stdout)?.[1])).toEqual(["HUP", "INT"]);
});

test.each(FORMS)("%s: a run that was displaced is told so on its stderr", (form) => {
  writeFileSync(join(runDir, "displaced"), "perdure: displaced by the test\n");
  expect(run(form, ["/bin/true"]).stderr).toBe("perdure: displaced by the test\n");
});

test("this machine has a form that works", () => {
  expect(run(detectWrapperForm(), ["/bin/true"])).toMatchObject({ status: 0, stderr: "" });
});

test("the mask of ignored signals is read as the kernel writes it", () => {
  expect(ignoredSignals("0000000000000001")).toEqual(["HUP"]);
  expect(ignoredSignals("0000000001001006")).toEqual(["INT", "QUIT", "PIPE", "XFSZ"]);
  expect(ignoredSignals("ffffffffffffffff")).toEqual(
    expect.arrayContaining(["HUP", "INT", "QUIT", "PIPE", "TERM", "XFSZ"]),
  );
  for (const nothing of [undefined, "", "0", "xyz", "-1", "1".repeat(17)]) expect(ignoredSignals(nothing)).toEqual([]);
});

test.each(FORMS)("B3: %s: the program inherits the fifo of its run, and nothing else", (form) => {
  execFileSync("mkfifo", [join(runDir, ALIVE_FIFO)]);
  const look = ["/bin/sh", "-c", "ls -l /proc/self/fd | grep -o ' [0-9]* -> .*fifo.*\\|[0-9]* -> .*alive'"];
  expect(run(form, look).stdout).toBe(`9 -> ${join(runDir, ALIVE_FIFO)}\n`);
  expect(runFifoState(runDir)).toBe("free");
});

test.each(FORMS)("B3: %s: the fifo is held by the program as well, when the wrapper is gone", async (form) => {
  execFileSync("mkfifo", [join(runDir, ALIVE_FIFO)]);
  const { file, args } = wrapperCommand(form, runDir, ["/bin/sh", "-c", "echo $$; exec sleep 1000"], {
    ignored: [],
    openFiles: null,
  });
  const wrapper = spawn(file, args.slice(1), { argv0: args[0] ?? "", stdio: ["ignore", "pipe", "ignore"] });
  const [printed] = (await once(wrapper.stdout, "data")) as [Buffer];
  const gone = once(wrapper, "exit");
  wrapper.kill("SIGKILL");
  await gone;
  expect(runFifoState(runDir)).toBe("held");
  expect(isRunGone(runDir)).toBe(false);
  process.kill(Number(printed), "SIGKILL");
  await eventually("the fifo to be free", () => runFifoState(runDir) === "free");
  expect(isRunGone(runDir)).toBe(true);
});

test.each(FORMS)("B3: %s: a wrapper that comes after its run was ended elsewhere starts nothing", (form) => {
  execFileSync("mkfifo", [join(runDir, ALIVE_FIFO)]);
  expect(isRunGone(runDir)).toBe(true);
  const late = run(form, ["/bin/sh", "-c", "echo started"]);
  expect(late).toMatchObject({ status: 4, stdout: "" });
  expect(late.stderr).toContain("ended before it began");
});
