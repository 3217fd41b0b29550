import { execFile, execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { PaneRecord, ScreenRecord } from "../../protocol/records/fleet.ts";
import type { MessageRecord } from "../../protocol/records/mail.ts";
import type { WorkerSummary } from "../../protocol/records/worker.ts";
import type { Output } from "../shared/output.ts";
import { differences, survivedTable, type Survivor } from "./survived.ts";
import type { Stage } from "./stage.ts";

const FLEET_FILE = `[defaults]
vendor = "scripted"

[workers.planner]

[workers.coder]
count = 2
group = "pair"
`;

/** A sentence for each worker that no other worker is told. */
const SECRETS: Readonly<Record<string, string>> = {
  planner: "The release is on Friday.",
  "coder-1": "The staging database is called heron.",
  "coder-2": "Never touch the billing code.",
};
const NAMES = Object.keys(SECRETS);
const QUESTION = "What did I tell you first?";
/** The worker that is killed first, alone. */
const CRASHING = "coder-1";

/** Plays the demo: a fleet comes up, one worker crashes, then everything is killed, and all of it comes back. */
export async function playFleet(stage: Stage, out: Output): Promise<object> {
  stage.narrate("Three agents in one file. These are built in and need no model; yours would be claude or codex.");
  writeFileSync(join(stage.project, "perdure.toml"), FLEET_FILE);
  stage.echoCommand("cat perdure.toml");
  out.note(FLEET_FILE.trimEnd());
  await stage.runAndShow(["up", "--yes"]);
  await waitUntilSettled(stage, 1);

  stage.narrate("Each is told something in its own terminal.");
  for (const name of NAMES) out.note(`${out.paint.bold(`you → ${name}:`)}  ${SECRETS[name]}`);
  await Promise.all(NAMES.map((name) => typeLine(stage, name, SECRETS[name] ?? "")));
  const before = await waitUntilSettled(stage, 1);
  await stage.runAndShow(["ls"]);

  const mail = await crashOneWorker(stage);
  await killEverything(stage);

  stage.narrate("Do they remember?");
  const answers = await Promise.all(NAMES.map(async (name) => [name, await typeLine(stage, name, QUESTION)] as const));
  for (const [name, answer] of answers) out.note(`${out.paint.bold(`${name} →`)} ${out.paint.green(answer)}`);

  const after = await waitUntilSettled(stage, 2);
  const { message } = await stage.query<{ message: MessageRecord }>(["mail", mail]);
  const survivors = NAMES.map((name): Survivor => {
    const told = SECRETS[name] ?? "";
    const heard = answers.find(([who]) => who === name)?.[1] ?? "";
    const sent = name === CRASHING ? message.state : null;
    return { before: workerNamed(before, name), after: workerNamed(after, name), told, heard, mail: sent };
  });
  stage.narrate("What survived:");
  out.note(survivedTable(survivors, out.paint));
  const broken = survivors.filter((each) => differences(each).length > 0);
  if (broken.length === 0) return { survived: survivors };
  const list = broken.map((each) => `${each.before.name}: ${differences(each).join(", ")}`).join("; ");
  throw new Error(`not everything survived: ${list}; ${JSON.stringify(broken)}`);
}

/** Kills a worker, writes to it while it is gone, and waits until it has come back and was told. Returns the message's id. */
async function crashOneWorker(stage: Stage): Promise<string> {
  stage.narrate("coder-1 is killed, as in a crash, and gets mail while it is gone.");
  const victim = workerNamed(await stage.workers(), CRASHING);
  stage.echoCommand(`kill -9 ${stage.killRuns([victim]).join(" ")}`);
  await stage.waitFor("the daemon did not notice the crash", async () => {
    const { run, state } = workerNamed(await stage.workers(), CRASHING);
    return run?.id !== victim.run?.id && state !== "stopped" ? state : null;
  });
  await stage.runAndShow(["send", CRASHING, "Please review the login page."]);
  await stage.runAndShow(["ls"]);
  const { messages } = await stage.query<{ messages: MessageRecord[] }>(["inbox", CRASHING, "--all"]);
  const id = messages[0]?.id ?? "";

  stage.narrate("Nobody has to do anything: the daemon brings it back, and the mail into its conversation.");
  const { generation } = victim;
  await stage.waitFor("coder-1 did not come back", async () => {
    const worker = workerNamed(await stage.workers(), CRASHING);
    return isSettled(worker) && worker.generation > generation ? worker : null;
  });
  await stage.waitFor("coder-1 was not told its mail", async () => {
    const { message } = await stage.query<{ message: MessageRecord }>(["mail", id]);
    return message.state === "read" ? message : null;
  });
  await stage.runAndShow(["mail", id]);
  await stage.runAndShow(["ls"]);
  return id;
}

async function killEverything(stage: Stage): Promise<void> {
  stage.narrate("Now everything goes, as in a power cut: the daemon, tmux, and every agent in it.");
  const workers = await stage.workers();
  const { tmux, socket } = await stage.query<PaneRecord>(["attach", "planner"]);
  const server = execFileSync(tmux, ["-S", socket, "display-message", "-p", "#{pid}"], { encoding: "utf8" }).trim();
  const pids = [await stage.killDaemon(), ...stage.killRuns(workers), Number(server)];
  process.kill(Number(server), "SIGKILL");
  stage.echoCommand(`kill -9 ${pids.join(" ")}`);
  stage.narrate("One command, the same as before.");
  await stage.runAndShow(["up", "--yes"]);
}

/** Waits until all workers are idle in proved conversations. */
async function waitUntilSettled(stage: Stage, generation: number): Promise<WorkerSummary[]> {
  return stage.waitFor("the fleet did not come up", async () => {
    const workers = await stage.workers();
    const ready = workers.every((worker) => isSettled(worker) && worker.generation >= generation);
    return workers.length === NAMES.length && ready ? workers : null;
  });
}

function isSettled({ state, session }: WorkerSummary): boolean {
  return state === "idle" && session?.proved === true;
}

function workerNamed(workers: readonly WorkerSummary[], name: string): WorkerSummary {
  const worker = workers.find((each) => each.name === name);
  if (worker === undefined) throw new Error(`the worker ${name} is gone`);
  return worker;
}

const run = promisify(execFile);

/** Types a line into a worker's pane, as a person would. Returns what the answer says it was told first. */
async function typeLine(stage: Stage, name: string, line: string): Promise<string> {
  const { tmux, socket, pane } = await stage.query<PaneRecord>(["attach", name]);
  await run(tmux, ["-S", socket, "send-keys", "-t", pane, "-l", line]);
  await run(tmux, ["-S", socket, "send-keys", "-t", pane, "Enter"]);
  return stage.waitFor(`${name} did not answer`, async () => {
    const { text } = await stage.query<ScreenRecord>(["logs", name]);
    const answer = [...text.matchAll(/^(?:> )*turns=\d+ first=(.*) last=(.*)$/gm)].at(-1);
    return answer?.[2] === line ? (answer[1] ?? "") : null;
  });
}
