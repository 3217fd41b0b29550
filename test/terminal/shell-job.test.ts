// perdure as a job of an interactive bash: the shell sees the program's exit code and gets a usable terminal back.
import { expect, test } from "vitest";
import { Home } from "../support/home.ts";
import { PROGRAMS, writeText, type ProgramName } from "./programs.ts";
import { Shell } from "./shell.ts";
import { withTmux } from "./hooks.ts";
import { CLEAN, type Tmux, type Modes } from "./tmux.ts";
import { Worker } from "./worker.ts";

const home = new Home();
let tmux: Tmux;

writeText(home);
withTmux(home, (started) => (tmux = started));

/** One program, running as a job in the foreground and ready for keys. */
class Job {
  readonly worker: Worker;
  readonly shell: Shell;
  readonly kind: ProgramName;
  readonly before: Modes & { settings: string };

  private constructor(shell: Shell, worker: Worker, kind: ProgramName) {
    this.shell = shell;
    this.worker = worker;
    this.kind = kind;
    this.before = { ...CLEAN, settings: shell.settings() };
  }

  static async start(kind: ProgramName): Promise<Job> {
    const { words, ready, command } = PROGRAMS[kind];
    const job = new Job(await Shell.start(tmux, home), new Worker(home, kind), kind);
    await job.shell.pane.line(`$P run ${job.worker.name} -- ${words.map((word) => `'${word}'`).join(" ")}`);
    if (ready) await job.shell.pane.shows(ready);
    await job.worker.program(command);
    return job;
  }

  async signal(whom: "wrapper" | "program", signal: NodeJS.Signals): Promise<void> {
    const target =
      whom === "wrapper" ? await this.worker.wrapper() : await this.worker.program(PROGRAMS[this.kind].command);
    process.kill(target.pid, signal);
  }

  async quit(): Promise<void> {
    await PROGRAMS[this.kind].quit(this.shell.pane);
  }

  /** The traces that the program left on the terminal; waits until keys are echoed and obeyed. */
  async terminal(): Promise<Modes & { settings: string }> {
    const left = { ...(await this.shell.pane.modes()), settings: this.shell.settings() };
    await this.shell.echoes();
    return left;
  }
}

interface Ending {
  what: string;
  kind: ProgramName;
  by: (job: Job) => Promise<void>;
  status: number;
  reason: string;
}

const press = (...keys: string[]) => ({ what: keys.join(" "), by: (job: Job) => job.shell.pane.keys(...keys) });
const send = (whom: "wrapper" | "program", signal: NodeJS.Signals) => ({
  what: `${signal} to the ${whom}`,
  by: (job: Job) => job.signal(whom, signal),
});
const quit = { what: "its own end", by: (job: Job) => job.quit() };

const ENDINGS: Ending[] = [
  { kind: "sleep", ...press("C-c"), status: 130, reason: "SIGINT" },
  { kind: "sleep", ...press("C-\\"), status: 131, reason: "SIGQUIT" },
  { kind: "sleep", ...send("wrapper", "SIGTERM"), status: 143, reason: "SIGTERM" },
  { kind: "sleep", ...send("wrapper", "SIGHUP"), status: 129, reason: "SIGHUP" },
  { kind: "sleep", ...send("program", "SIGKILL"), status: 137, reason: "SIGKILL" },
  { kind: "vim", ...quit, status: 0, reason: "exited" },
  { kind: "vim", ...send("wrapper", "SIGTERM"), status: 143, reason: "SIGTERM" },
  { kind: "vim", ...send("program", "SIGKILL"), status: 137, reason: "SIGKILL" },
  { kind: "less", ...quit, status: 0, reason: "exited" },
  { kind: "less", ...send("wrapper", "SIGTERM"), status: 15, reason: "exited" },
  { kind: "less", ...send("program", "SIGKILL"), status: 137, reason: "SIGKILL" },
  { kind: "bash", ...quit, status: 5, reason: "exited" },
  { kind: "bash", ...send("program", "SIGKILL"), status: 137, reason: "SIGKILL" },
  { kind: "raw", ...quit, status: 0, reason: "exited" },
  { kind: "raw", ...press("t"), status: 1, reason: "exited" },
  { kind: "raw", ...press("a"), status: 134, reason: "SIGABRT" },
  { kind: "raw", ...press("s"), status: 139, reason: "SIGSEGV" },
  { kind: "raw", ...send("wrapper", "SIGTERM"), status: 143, reason: "SIGTERM" },
  { kind: "raw", ...send("program", "SIGKILL"), status: 137, reason: "SIGKILL" },
];

test.for(ENDINGS)(
  "$kind, $what: $status, $reason, and the terminal is as before",
  async ({ kind, by, status, reason }) => {
    const job = await Job.start(kind);
    await by(job);
    expect(await job.shell.status()).toBe(status);
    expect(await job.worker.ended()).toMatchObject({ exit: status, reason });
    expect(await job.terminal()).toEqual(job.before);
  },
);

const KINDS = Object.keys(PROGRAMS) as ProgramName[];
const FULL = KINDS.filter((kind) => kind !== "sleep");

test.for(FULL)("%s lives through Ctrl-C and follows a resize", async (kind) => {
  const job = await Job.start(kind);
  const { pane } = job.shell;
  await PROGRAMS[kind].interrupt?.(pane);
  await PROGRAMS[kind].useIt(pane);
  await pane.resize(97, 20);
  await PROGRAMS[kind].tellsWidth?.(pane, 97);
  await job.quit();
  await job.shell.status();
  expect(await job.terminal()).toEqual(job.before);
});

test.for(KINDS.filter((kind) => kind !== "bash"))("%s: Ctrl-Z, fg, and it takes keys again", async (kind) => {
  const job = await Job.start(kind);
  const { pane } = job.shell;
  const program = await job.worker.program(PROGRAMS[kind].command);
  await pane.keys("C-z");
  expect(await job.shell.status()).toBe(148);
  await job.worker.is("suspended", program);
  expect((await pane.modes()).alternate).toBe(false);
  await pane.line("fg");
  await job.worker.is("running", program);
  const { ready, back = ready } = PROGRAMS[kind];
  if (back) await pane.shows(back);
  await PROGRAMS[kind].useIt(pane);
  await job.quit();
  await job.shell.status();
  expect(await job.terminal()).toEqual(job.before);
});

test.for(KINDS)("%s, its pane killed: the end is written down", async (kind) => {
  const job = await Job.start(kind);
  await job.shell.pane.kill();
  const { exit, reason } = await job.worker.ended();
  expect(PROGRAMS[kind].hungUp).toContain(exit);
  expect(reason).toBe(exit === 129 ? "SIGHUP" : "exited");
});

test("Ctrl-C ends a shell loop around `perdure run`, as around any program", async () => {
  const shell = await Shell.start(tmux, home);
  const worker = new Worker(home, "loop");
  await shell.pane.line(`for i in 1 2; do $P run ${worker.name} -- sleep 1000; done`);
  await worker.program(/^sleep$/);
  await shell.pane.keys("C-c");
  expect(await shell.status()).toBe(130);
  expect(await worker.ended()).toMatchObject({ generation: 1, exit: 130, reason: "SIGINT" });
});
