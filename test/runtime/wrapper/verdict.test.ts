import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { processTable } from "../../../src/runtime/process/index.ts";
import {
  VERDICT_FIFO,
  VERDICT_FILE,
  wrapperCommand,
  type WrapperForm,
  type WrapperOptions,
} from "../../../src/runtime/wrapper/script.ts";
import { eventually } from "../../support/check.ts";
import { finish, type Finished } from "../../support/home.ts";

let state: string;
let runDir: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "perdure-wrapper-"));
  runDir = join(state, "runs", "a run's folder");
  mkdirSync(runDir, { recursive: true });
});
afterEach(() => rmSync(state, { recursive: true }));

async function run(
  form: WrapperForm,
  command: string[],
  options: WrapperOptions = { awaitsVerdict: true },
): Promise<Finished> {
  const { file, args } = wrapperCommand(form, runDir, command, { ignored: [], openFiles: null }, options);
  return finish(spawn(file, args.slice(1), { argv0: args[0] ?? "", stdio: ["pipe", "pipe", "pipe"] }));
}

/** Writes the file by which a daemon is known: this very process, or one that never answers. */
function daemonIs(pid: number, processStarted = processTable().inspect(pid)?.startedAt ?? "1"): void {
  writeFileSync(join(state, "daemon.json"), `${JSON.stringify({ pid, processStarted, socket: "/s" })}\n`);
}

/** Writes the verdict at once, as the daemon does: a wrapper that sees the file reads all of it. */
function answer(text: string): void {
  writeFileSync(join(runDir, "verdict.tmp"), text);
  renameSync(join(runDir, "verdict.tmp"), join(runDir, VERDICT_FILE));
}

const hasWaited = (): boolean => existsSync(join(runDir, VERDICT_FIFO));
const exitCode = (): string => readFileSync(join(runDir, "exit"), "utf8");
const succeed = ["/bin/sh", "-c", "exit 0"];

describe.each<WrapperForm>(["env", "bash", "plain"])("A2: the %s wrapper", (form) => {
  it("prints a false verdict and ends with 5, and leaves the program's own code", async () => {
    daemonIs(process.pid);
    answer("false\nperdure: it was not.\n");
    expect(await run(form, succeed)).toEqual({ code: 5, stdout: "", stderr: "perdure: it was not.\n" });
    expect(exitCode()).toBe("0\n");
    expect(await run(form, ["/bin/sh", "-c", "exit 9"])).toMatchObject({ code: 9, stderr: "perdure: it was not.\n" });
    expect(hasWaited()).toBe(false);
  });

  it("prints the verdict in place of who displaced it, never both", async () => {
    writeFileSync(join(runDir, "displaced"), "perdure: displaced.\n");
    expect(await run(form, succeed)).toMatchObject({ code: 0, stderr: "perdure: displaced.\n" });
    answer("false\nperdure: it was not.\n");
    expect(await run(form, succeed)).toMatchObject({ code: 5, stderr: "perdure: it was not.\n" });
    expect(hasWaited()).toBe(false);
  });

  it("waits for a daemon that lives, and is woken by it", async () => {
    daemonIs(process.pid);
    // The longer wait: on a busy machine this process may not get to answer within the usual one.
    const running = run(form, succeed, { awaitsVerdict: true, slowVerdict: true });
    await eventually("the wrapper to wait", hasWaited);
    answer("false\nperdure: it was not.\n");
    // For reading too: that never waits, should the wrapper be gone.
    const fifo = openSync(join(runDir, VERDICT_FIFO), "r+");
    writeSync(fifo, "\n");
    expect(await running).toMatchObject({ code: 5, stderr: "perdure: it was not.\n" });
    closeSync(fifo);
  });

  it("waits longer where the vendor's own program has to be asked", async () => {
    daemonIs(process.pid);
    const slow = run(form, succeed, { awaitsVerdict: true, slowVerdict: true });
    await eventually("the slow one to wait", hasWaited);
    const slowDir = runDir;
    runDir = join(state, "runs", "another");
    mkdirSync(runDir);
    // The usual wait began later and is over first.
    expect(await run(form, succeed)).toMatchObject({ code: 0 });
    writeFileSync(join(slowDir, VERDICT_FILE), "false\nperdure: it was not.\n");
    const fifo = openSync(join(slowDir, VERDICT_FIFO), "r+");
    writeSync(fifo, "\n");
    expect(await slow).toMatchObject({ code: 5, stderr: "perdure: it was not.\n" });
    closeSync(fifo);
  });

  it("goes on without an answer, and leaves no process behind", async () => {
    daemonIs(process.pid);
    process.env.PERDURE_TEST_WRAPPER = runDir;
    expect(await run(form, succeed)).toEqual({ code: 0, stdout: "", stderr: "" });
    delete process.env.PERDURE_TEST_WRAPPER;
    expect(hasWaited()).toBe(true);
    const left = (): number => processTable().withVariable("PERDURE_TEST_WRAPPER", runDir).length;
    await eventually("the timer to be gone", () => left() === 0);
  });

  it("does not wait without a daemon, for a dead one, or for another process with its pid", async () => {
    await run(form, succeed);
    const gone = spawnSync("/bin/true").pid;
    daemonIs(gone, "1");
    await run(form, succeed);
    daemonIs(process.pid, "1");
    await run(form, succeed);
    writeFileSync(join(state, "daemon.json"), "garbage\n");
    await run(form, succeed);
    expect(hasWaited()).toBe(false);
  });

  it("does not wait for a daemon that nobody has reaped", async () => {
    // It ends once its parent is no shell any more, which might reap it.
    const script = "p=$$; (until grep -q sleep /proc/$p/comm; do :; done) & echo $!; exec sleep 1000";
    const parent = spawn("/bin/sh", ["-c", script], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(line.toString());
    const stat = (): string => readFileSync(`/proc/${pid}/stat`, "utf8");
    await eventually("a zombie", () => stat().includes(") Z "));
    daemonIs(pid, stat().split(") ")[1]?.split(" ")[19]);
    await run(form, succeed);
    parent.kill("SIGKILL");
    expect(hasWaited()).toBe(false);
  });

  it("does not wait after a signal, for a proved run, or if it was not told to", async () => {
    daemonIs(process.pid);
    await run(form, ["/bin/sh", "-c", "kill -KILL $$"]);
    await run(form, succeed, {});
    answer("true\n");
    expect(await run(form, succeed)).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(hasWaited()).toBe(false);
  });
});
