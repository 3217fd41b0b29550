// perdure as a pane's own command: the wrapper leads the session, and there is no shell to tidy up after it.
import { expect, test } from "vitest";
import { BIN, Home } from "../support/home.ts";
import { PROGRAMS, writeText, type ProgramName } from "./programs.ts";
import { withTmux } from "./hooks.ts";
import { CLEAN as CLEAN_ALIVE, type Tmux, until, type Pane } from "./tmux.ts";
import { Worker } from "./worker.ts";

/** tmux hides the cursor of a dead pane itself. */
const CLEAN = { ...CLEAN_ALIVE, cursor: false };

const home = new Home();
let tmux: Tmux;

writeText(home);
withTmux(home, (started) => (tmux = started));

interface Started {
  pane: Pane;
  worker: Worker;
  kind: ProgramName;
}

async function start(kind: ProgramName): Promise<Started> {
  const { words, ready, command } = PROGRAMS[kind];
  const worker = new Worker(home, kind);
  const pane = await tmux.pane([BIN, "run", worker.name, "--", ...words]);
  if (ready) await pane.shows(ready);
  await worker.program(command);
  return { pane, worker, kind };
}

interface Ending {
  what: string;
  kind: ProgramName;
  by: (started: Started) => Promise<void>;
  status: number;
  reason: string;
}

const press = (...keys: string[]) => ({ what: keys.join(" "), by: ({ pane }: Started) => pane.keys(...keys) });
const quit = { what: "its own end", by: ({ pane, kind }: Started) => PROGRAMS[kind].quit(pane) };
const term = {
  what: "SIGTERM to the wrapper",
  by: async ({ worker }: Started) => void process.kill((await worker.wrapper()).pid, "SIGTERM"),
};
const kill = {
  what: "SIGKILL to the program",
  by: async ({ worker, kind }: Started) =>
    void process.kill((await worker.program(PROGRAMS[kind].command)).pid, "SIGKILL"),
};

const ENDINGS: Ending[] = [
  { kind: "sleep", ...press("C-c"), status: 130, reason: "SIGINT" },
  { kind: "sleep", ...term, status: 143, reason: "SIGTERM" },
  { kind: "sleep", ...kill, status: 137, reason: "SIGKILL" },
  { kind: "vim", ...quit, status: 0, reason: "exited" },
  { kind: "vim", ...term, status: 143, reason: "SIGTERM" },
  { kind: "vim", ...kill, status: 137, reason: "SIGKILL" },
  { kind: "less", ...quit, status: 0, reason: "exited" },
  { kind: "less", ...term, status: 15, reason: "exited" },
  { kind: "less", ...kill, status: 137, reason: "SIGKILL" },
  { kind: "bash", ...quit, status: 5, reason: "exited" },
  { kind: "bash", ...kill, status: 137, reason: "SIGKILL" },
  { kind: "raw", ...press("t"), status: 1, reason: "exited" },
  { kind: "raw", ...press("a"), status: 134, reason: "SIGABRT" },
  { kind: "raw", ...press("s"), status: 139, reason: "SIGSEGV" },
  { kind: "raw", ...term, status: 143, reason: "SIGTERM" },
  { kind: "raw", ...kill, status: 137, reason: "SIGKILL" },
];

test.for(ENDINGS)("$kind, $what: $status, $reason, and a clean screen", async ({ kind, by, status, reason }) => {
  const started = await start(kind);
  await by(started);
  expect(await started.worker.ended()).toMatchObject({ exit: status, reason });
  expect(await started.pane.ended()).toBe(status);
  expect(await started.pane.modes()).toEqual(CLEAN);
});

const KINDS = Object.keys(PROGRAMS) as ProgramName[];

test.for(KINDS.filter((kind) => kind !== "sleep"))(
  "%s lives through Ctrl-C and Ctrl-Z, and follows a resize",
  async (kind) => {
    const { pane, worker } = await start(kind);
    await PROGRAMS[kind].interrupt?.(pane);
    await PROGRAMS[kind].useIt(pane);
    // Nobody could say `fg` here, and the kernel drops the stop for that reason. A program that steps back for Ctrl-Z
    // by itself comes again only when it is told to.
    await pane.keys("C-z");
    if (kind === "raw") await steppedBackAndCalled(pane, (await worker.program(PROGRAMS.raw.command)).pid);
    await PROGRAMS[kind].useIt(pane);
    await pane.resize(97, 20);
    await PROGRAMS[kind].tellsWidth?.(pane, 97);
    await PROGRAMS[kind].quit(pane);
    expect(await worker.ended()).toMatchObject({ reason: "exited" });
    await pane.ended();
    expect(await pane.modes()).toEqual(CLEAN);
  },
);

async function steppedBackAndCalled(pane: Pane, pid: number): Promise<void> {
  await until("the main screen", async () => ((await pane.modes()).alternate ? null : true));
  process.kill(pid, "SIGCONT");
  await pane.shows(/^raw program/);
}

test.for(KINDS)("%s, its pane killed: the end is written down", async (kind) => {
  const { pane, worker } = await start(kind);
  await pane.kill();
  const { exit, reason } = await worker.ended();
  expect(PROGRAMS[kind].hungUp).toContain(exit);
  expect(reason).toBe(exit === 129 ? "SIGHUP" : "exited");
});

test.for(KINDS)(
  "%s, its wrapper killed: the kernel hangs the program up, and the end is known as killed",
  async (kind) => {
    const { pane, worker } = await start(kind);
    const program = await worker.program(PROGRAMS[kind].command);
    process.kill((await worker.wrapper()).pid, "SIGKILL");
    expect(await worker.ended()).toMatchObject({ exit: null, reason: "killed" });
    await worker.gone(program);
    expect(await pane.ended()).toBe(137);
  },
);
