// docs/ls.svg and docs/demo.svg: what the real commands show in a real terminal. The agents are the built-in one, some of
// them with another vendor's persona, as in the tests.
import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { PaneRecord } from "../src/protocol/records/fleet.ts";
import type { WorkerState, WorkerSummary } from "../src/protocol/records/worker.ts";
import { InstalledPersona } from "../test/support/persona.ts";
import { BIN, Home } from "../test/support/home.ts";
import { Tmux, type Pane } from "../test/terminal/tmux.ts";
import { terminalSvg } from "./svg.ts";

const COLUMNS = 100;
const ROWS = 90;
const DOCS = resolve(import.meta.dirname, "../docs");
const PROMPT = "\u001b[1m$\u001b[0m";

const FLEET_FILE = `[defaults]
vendor = "claude"
[workers.planner]
[workers.coder]
vendor = "codex"
count = 2
group = "pair"
[workers.reviewer]
[workers.tester]
args = ["--script", "run the tests; /crash 1"]
[workers.docs]
args = ["--script", "write it down; /crash 1"]
[workers.writer]
`;

await inTerminal(fleetPicture);
await inTerminal(demoPicture);

async function inTerminal(draw: (home: Home, pane: Pane, tmux: Tmux) => Promise<void>): Promise<void> {
  const home = new Home();
  const bin = join(home.dir, "bin");
  for (const vendor of ["claude", "codex"] as const) new InstalledPersona(home, vendor);
  symlinkSync(BIN, join(bin, "perdure"));
  const tmux = await Tmux.start(home);
  try {
    const pane = await tmux.pane(["env", "PS1=$ ", "sh"]);
    await pane.resize(COLUMNS, ROWS);
    await draw(home, pane, tmux);
  } finally {
    await tmux.stop();
    await home.clear();
  }
}

/** One worker in every state that a person sees on an ordinary day, and on a bad one. */
async function fleetPicture(home: Home, pane: Pane, tmux: Tmux): Promise<void> {
  writeFileSync(join(home.project, "perdure.toml"), FLEET_FILE);
  const states = async (...wanted: [name: string, state: WorkerState][]): Promise<void> => {
    for (const [name, state] of wanted) await home.until(name, (worker) => worker.state === state);
  };
  await home.perdure(["up", "--yes", "planner", "coder", "reviewer", "tester", "writer"]);
  await states(["planner", "idle"], ["reviewer", "idle"], ["writer", "idle"]);
  await type(home, "reviewer", "/permission");
  await home.perdure(["save", "friday"]);
  await home.perdure(["stop", "writer"]);
  await home.perdure(["send", "writer", "The new endpoint needs a page."]);
  await home.perdure(["send", "planner", "Two of three are done."]);
  await home.perdure(["send", "writer", "So does the old one."]);
  await states(["tester", "crash-looping"]);
  await home.perdure(["up", "--yes", "docs"]);
  const seldom = ({ state, restarts }: WorkerSummary): boolean => state === "backing-off" && restarts >= 2;
  await home.until("docs", seldom);
  await states(["reviewer", "blocked"]);
  await pane.line("clear; perdure");
  await pane.shows(/Needs you[^]*q quit/);
  const lines = (await captured(pane, tmux)).filter((line, at, all) => line !== "" || all[at - 1] !== "");
  await pane.keys("q");
  save("ls.svg", "perdure: seven agents, their states, and who needs you", [`${PROMPT} perdure`, ...lines]);
}

/** The part of the demo from the moment at which everything is killed. */
async function demoPicture(_home: Home, pane: Pane, tmux: Tmux): Promise<void> {
  await pane.line("clear; perdure demo");
  await pane.shows(/Now with your own agents/);
  const lines = await captured(pane, tmux);
  const [from, to] = [/# Now everything goes/, /# All of it is gone/].map((what) =>
    lines.findIndex((l) => what.test(l)),
  );
  save("demo.svg", "perdure demo: everything is killed, one command brings it back", lines.slice(from, to));
}

/** Types a line in a worker's own pane, as a person would. */
async function type(home: Home, name: string, line: string): Promise<void> {
  const { socket, pane } = await home.json<PaneRecord>(["attach", name]);
  for (const keys of [["-l", line], ["Enter"]]) execFileSync("tmux", ["-S", socket, "send-keys", "-t", pane, ...keys]);
}

/** The screen with its colours, up to the shell's next prompt if that is there already. */
async function captured(pane: Pane, tmux: Tmux): Promise<string[]> {
  const lines = (await tmux.do("capture-pane", "-e", "-p", "-t", pane.id)).trimEnd().split("\n");
  return stripVTControlCharacters(lines.at(-1) ?? "").trim() === "$" ? lines.slice(0, -1) : lines;
}

function save(file: string, title: string, lines: string[]): void {
  writeFileSync(join(DOCS, file), terminalSvg(lines.join("\n"), { title, columns: COLUMNS }));
  process.stdout.write(`wrote docs/${file}\n`);
}
