import { join } from "node:path";
import { CONFIG_FILE, fleetRoot, type FoundProject } from "../../project/find.ts";
import type { Fleet, FleetWorker } from "../../project/fleet/read.ts";
import type { CallParams, ProjectRef } from "../../protocol/calls/index.ts";
import type { UpResult } from "../../protocol/records/fleet.ts";
import type { WorkerSummary } from "../../protocol/records/worker.ts";
import { exitCodeOf, isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { nameKey } from "../../protocol/names.ts";
import { listFromDaemon } from "../shared/call.ts";
import type { Command, Invocation } from "../shared/command.ts";
import { selectWorkers, requireFleet } from "../shared/launch/fleet-entries.ts";
import { declaredWorkersHere, findProjectHere, passedOverNote, projectRefHere } from "../shared/here.ts";
import { movedAttention } from "../shared/warnings/moved-note.ts";
import { noteUnusedFolders } from "../shared/warnings/folder-notes.ts";
import { isTerminal, printable, type Output } from "../shared/output.ts";
import { ensureTrust } from "../shared/launch/ensure-trust.ts";
import { workerNote } from "../shared/table/worker-table.ts";
import { adapterNames } from "../../vendors/index.ts";
import { bringUpWorkers } from "./bring-up.ts";
import { endedAtOnce } from "./ended-at-once.ts";

export const up: Command = {
  summary: "start the fleet of perdure.toml in tmux, or what is missing of it",
  usage: "[WORKER…] [options] | NAME [--vendor V] [-- COMMAND…]",
  details: [
    "Running workers are left alone; the others are started, each resumed in its conversation if it has one. It is the same",
    "command after a crash, a reboot or an upgrade. The daemon then keeps the workers running until `perdure down`. It",
    "needs tmux. At a terminal it waits a second at most, to say what ended at once (exit 5). `?` stands for a conversation",
    "that the agent has not shown to be in yet; `perdure ls` has ✓ once it has.",
    "",
    "With a COMMAND, or a vendor, it adds the worker NAME to the end of perdure.toml, which is made where there is none, and",
    "starts it. The file has to be trusted as it is. Where it cannot be changed, the lines are printed.",
    "",
    "What this terminal has in its environment arrives, now and at every later start that no other terminal makes",
    "(perdure help environment).",
    "",
    "A saved session is one name for the conversations of all workers (perdure save). With --session a new name takes over",
    "the present conversations, unless they belong to another saved session; then it begins with new ones. With --resume",
    "either every worker comes back to its conversation, or none is started and the reasons are listed.",
  ].join("\n"),
  examples: [
    "perdure up",
    "perdure up coder",
    "perdure up coder -- claude --model opus",
    "perdure up --session friday",
    "perdure up --resume friday",
    "perdure up --all",
  ],
  options: {
    session: { value: "S", about: "start in the saved session S, and keep it current", completes: "saved" },
    resume: {
      value: "S",
      about: "bring every worker back to its conversation in S, and keep S current",
      completes: "saved",
    },
    "allow-fresh": {
      value: "NAME",
      multiple: true,
      about: "with --resume: this worker may begin a new conversation",
      completes: "worker",
    },
    fresh: { about: "begin new conversations everywhere; the old ones stay in `perdure history`" },
    vendor: { value: "V", about: "add a worker of that vendor; its arguments follow `--`", completes: adapterNames() },
    all: { short: "a", about: "start the fleets of every project whose perdure.toml is trusted" },
    yes: { short: "y", about: "agree to what perdure.toml runs, without being asked (perdure trust)" },
  },
  completes: ["worker"],
  words: [0, 500],
  takesRest: true,

  // read the file → check trust → make worktrees → the daemon claims, plans and starts → print one line per worker
  async run({ words, values, rest, out }) {
    if (values.all === true) return (await import("./up-all.ts")).upEverywhere(words, values, rest, out);
    const found = findProjectHere();
    const passedOver = passedOverNote(found);
    if (passedOver !== null) out.note(printable(`perdure: ${passedOver}`));
    const here = projectRefHere(found);
    const fleet = await fleetFor(found, { words, values, rest, out });
    const workers = await selected(fleet, words);
    const options = savedSessionOptions(values, words, fleet);
    if (!options.fresh) await refuseMoved(here);
    await ensureTrust(fleet, here, values.yes === true, out);
    // Listed before the start, while the machine is not yet busy starting agents.
    const others = words.length === 0 ? await runningOutsideFile(fleet, here) : [];
    const { items, result } = await bringUpWorkers({ fleet, here, workers, ...options }, out);
    const failed = isTerminal(1) && !out.json ? await endedAtOnce(here, items) : [];
    for (const worker of failed) out.note(failedLine(worker, out));
    for (const name of others) out.note(`  ${name}  runs and is not in ${printable(fleet.file)}: perdure stop ${name}`);
    noteUnusedFolders(found, out);
    const leftOut = await savedOutsideFile(options, fleet, here);
    for (const name of leftOut)
      out.note(`  ${name}  is saved in ${result.session}, and not in ${printable(fleet.file)}: it was left as it is`);
    const left = leftOut.length > 0 ? { leftOut } : {};
    out.result({ workers: items, ...result, ...left }, () => summary(result, failed.length, out));
    if (options.resume !== null && result.session !== null)
      out.note(
        `${result.session} follows the workers from now on, to /clear and --fresh too; to keep it as it is now: perdure save OTHER`,
      );
    return result.refused + failed.length > 0 ? exitCodeOf("refused") : 0;
  },
};

/** Returns the workers that were named; one that is known and not in the file can be added to it. */
async function selected(fleet: Fleet, words: readonly string[]): Promise<FleetWorker[]> {
  try {
    return selectWorkers(fleet, words);
  } catch (error) {
    throw await withAddHint(error, words, fleet.file);
  }
}

/** Reads the fleet for the workers that were named; where there is no file, a known worker can be the first in it. */
async function requiredFleet(found: FoundProject, words: readonly string[]): Promise<Fleet> {
  try {
    return await requireFleet(found);
  } catch (error) {
    throw await withAddHint(error, words, join(fleetRoot(found), CONFIG_FILE));
  }
}

/** Tells of the first named worker that exists and that the file does not have, if that is what went wrong. */
async function withAddHint(error: unknown, words: readonly string[], file: string): Promise<unknown> {
  if (!isPerdureError(error) || error.code !== "not-found") return error;
  const declared = new Set(declaredWorkersHere(findProjectHere()).map(({ name }) => nameKey(name)));
  const name = words.find((word) => !declared.has(nameKey(word)));
  if (name === undefined) return error;
  const { addCommand, knownWorker } = await import("../shared/launch/stored-entry.ts");
  const worker = await knownWorker(name);
  const add = worker && addCommand(worker);
  if (!worker || !add) return error;
  return new PerdureError("not-found", `${worker.address} is known, and ${file} does not have it.`, {
    hint: `into the fleet: ${add}; in this terminal: perdure run ${worker.name}`,
  });
}

/** Reads the project's fleet; with a command, or a vendor for one, of a fleet that has one more worker. */
async function fleetFor(found: FoundProject, { words, values, rest, out }: Invocation): Promise<Fleet> {
  const vendor = typeof values.vendor === "string" ? values.vendor : null;
  if (rest === null && vendor === null) return requiredFleet(found, words);
  const [name, another] = words;
  const wanted = rest === null ? "--vendor" : "--";
  if (name === undefined) throw usage(`${wanted} needs a NAME for the new worker.`, "perdure up coder -- claude");
  if (another !== undefined)
    throw usage(`${wanted} starts one worker, not ${words.length}.`, `perdure up ${name} -- …`);
  if (["session", "resume", "allow-fresh"].some((option) => values[option] !== undefined)) {
    throw usage(
      `a saved session and a new worker cannot be combined.`,
      `perdure up ${name} -- …, then perdure up --session S`,
    );
  }
  if (values.fresh !== true) await refuseMoved(projectRefHere(found));
  const { fleetWithWorker } = await import("./add-worker.ts");
  return fleetWithWorker(found, { name, rest, vendor }, { yes: values.yes === true, out });
}

/** Refuses before the file is trusted anew: whoever has moved a repository wants its workers, not new ones. */
async function refuseMoved(here: ProjectRef): Promise<void> {
  const { result } = await listFromDaemon("ls", { here, project: null, all: false });
  const [moved] = result.moved ?? [];
  if (moved === undefined) return;
  const { name, why, command } = movedAttention(moved);
  throw new PerdureError("refused", `Project ${name}: ${why}.`, {
    hint: `${command}   (${moved.absorbed ? "brings them here" : "if it was moved here"}); to start over here: perdure up --fresh`,
  });
}

type UpOptions = Pick<CallParams<"up">, "session" | "resume" | "allowFresh" | "fresh">;

/** Parses the options of saved sessions. A saved session belongs to a whole fleet, so it cannot be entered by single workers. */
function savedSessionOptions(values: Invocation["values"], words: readonly string[], fleet: Fleet): UpOptions {
  const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
  const [session, resume, fresh] = [text(values.session), text(values.resume), values.fresh === true];
  const allowed: unknown = values["allow-fresh"];
  const allowFresh = Array.isArray(allowed) ? selectWorkers(fleet, allowed.map(String)).map(({ name }) => name) : [];
  const option = session === null ? "--resume" : "--session";
  if (session === "" || resume === "") throw usage(`${option} is empty (""); it is a name.`, `${option} friday`);
  if (session !== null && resume !== null)
    throw usage("--session and --resume cannot be combined.", "give one of them");
  if (session === null && resume === null) return { session, resume, allowFresh, fresh };
  if (words.length > 0)
    throw usage(`${option} and worker names cannot be combined.`, `perdure up ${option} ${session ?? resume}`);
  if (fresh && resume !== null)
    throw usage("--resume and --fresh cannot be combined.", "--allow-fresh NAME for single workers");
  return { session, resume, allowFresh, fresh };
}

function usage(message: string, hint: string): PerdureError {
  return new PerdureError("usage", `up: ${message}`, { hint });
}

/** Lists running workers that the file no longer declares; they are reported, never stopped unasked. */
async function runningOutsideFile(fleet: Fleet, here: ProjectRef): Promise<string[]> {
  const { items } = await listFromDaemon("ls", { here, project: null, all: false });
  const declared = new Set(fleet.workers.map(({ name }) => nameKey(name)));
  const running = items.filter(({ mode, run }) => mode === "tmux" && run !== null);
  return running.map(({ name }) => name).filter((name) => !declared.has(nameKey(name)));
}

/** Lists workers that a saved session knows and the file no longer declares: nobody would start them, and nobody would miss them. */
async function savedOutsideFile({ session, resume }: UpOptions, fleet: Fleet, here: ProjectRef): Promise<string[]> {
  const asked = session ?? resume;
  if (asked === null) return [];
  const { items } = await listFromDaemon("saved", { here, project: null });
  const declared = new Set(fleet.workers.map(({ name }) => nameKey(name)));
  const saved = items.find(({ name }) => nameKey(name) === nameKey(asked));
  return (saved?.workers ?? []).map(({ name }) => name).filter((name) => !declared.has(nameKey(name)));
}

/** Says of a worker that was started and has failed since how, and where its last words are. */
function failedLine(worker: WorkerSummary, { paint }: Output): string {
  const { name } = worker;
  const note = printable(workerNote(worker));
  return `  ${paint.bold(name)}  ${paint.red("✗")} ended at once: ${note}\n      ${paint.dim("→")} perdure logs ${name}`;
}

function summary({ started, running, asleep = 0, refused, session }: UpResult, ended: number, out: Output): string {
  const sleeping = asleep === 0 ? [] : [`${asleep} asleep`];
  const upNow = `${started + running + asleep - ended} up`;
  const parts = [upNow, `${started} started`, `${running} already running`, ...sleeping];
  const failed = [
    ...(ended === 0 ? [] : [out.paint.red(`${ended} ended at once`)]),
    ...(refused === 0 ? [] : [out.paint.red(`${refused} refused`)]),
  ];
  const saved = session === null ? "" : `  (saved session ${session}, kept current)`;
  return `${[...parts, ...failed].join(", ")}${saved}`;
}
