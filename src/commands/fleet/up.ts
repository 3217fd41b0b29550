import { checkCwd } from "../../project/fleet/cwd.ts";
import type { Fleet, FleetWorker } from "../../project/fleet/read.ts";
import { makeWorktree } from "../../project/worktree/make.ts";
import type { CallParams, FleetEntry, ProjectRef } from "../../protocol/calls/index.ts";
import { hinted, shownHint } from "../../protocol/hint.ts";
import type { UpItem, UpResult } from "../../protocol/records/fleet.ts";
import { exitCodeOf, isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { nameKey } from "../../protocol/names.ts";
import { daemonClient, listFromDaemon } from "../shared/call.ts";
import type { Command, Invocation } from "../shared/command.ts";
import {
  fleetEnvironment,
  selectWorkers,
  toFleetEntry,
  requireFleet,
  trustedContent,
} from "../shared/fleet-entries.ts";
import { findProjectHere, projectRefHere } from "../shared/here.ts";
import { movedAttention } from "../shared/moved-note.ts";
import { printable, type Output } from "../shared/output.ts";
import { shortId } from "../shared/table.ts";
import { ensureTrust } from "../shared/ensure-trust.ts";

export const up: Command = {
  summary: "start the fleet of perdure.toml in tmux, or what is missing of it",
  usage: "[WORKER…] [options]",
  details: [
    "Running workers are left alone; the others are started, each resumed in its conversation if it has one. It is the same",
    "command after a crash, a reboot or an upgrade. The daemon then keeps the workers running until `perdure down`. It",
    "needs tmux.",
    "",
    "What your terminal has in its environment arrives, now and at every later start (perdure help environment).",
    "",
    "A saved session is one name for the conversations of all workers (perdure save). With --session a new name takes over",
    "the present conversations, unless they belong to another saved session; then it begins with new ones. With --resume",
    "either every worker comes back to its conversation, or none is started and the reasons are listed.",
  ].join("\n"),
  examples: ["perdure up", "perdure up coder", "perdure up --session friday", "perdure up --resume friday"],
  options: {
    session: { value: "S", about: "start in the saved session S, and keep it current", completes: "saved" },
    resume: { value: "S", about: "bring every worker back to its conversation in S", completes: "saved" },
    "allow-fresh": {
      value: "NAME",
      multiple: true,
      about: "with --resume: this worker may begin a new conversation",
      completes: "worker",
    },
    fresh: { about: "begin new conversations everywhere; the old ones stay in `perdure history`" },
    yes: { short: "y", about: "agree to what perdure.toml runs, without being asked (perdure trust)" },
  },
  completes: ["worker"],
  words: [0, 500],

  // read the file → check trust → make worktrees → the daemon claims, plans and starts → print one line per worker
  async run({ words, values, out }) {
    const found = findProjectHere();
    const here = projectRefHere(found);
    const fleet = await requireFleet(found);
    const workers = selectWorkers(fleet, words);
    const options = savedSessionOptions(values, words, fleet);
    if (!options.fresh) await refuseMoved(here);
    await ensureTrust(fleet, here, values.yes === true, out);
    const inPanes = workers.filter(({ mode }) => mode === "tmux");
    if (inPanes.length === 0 && workers.length > 0) throw onlyTurns(workers, fleet);
    for (const { name } of workers.filter(({ mode }) => mode === "turn")) {
      out.note(`  ${name}  mode = "turn" is not built yet: nothing to start`);
    }
    const { entries, refused } = await prepareWorkers(fleet, inPanes, out);
    // Listed before the start, while the machine is not yet busy starting agents.
    const others = words.length === 0 ? await runningOutsideFile(fleet, here) : [];
    const { items, result } = await bringUp(
      { here, ...trustedContent(fleet), environment: fleetEnvironment(fleet, out), workers: entries, ...options },
      refused,
      out,
    );
    for (const name of others) out.note(`  ${name}  runs and is not in ${printable(fleet.file)}: perdure stop ${name}`);
    out.result({ workers: items, ...result }, () => summary(result, out));
    return result.refused > 0 ? exitCodeOf("refused") : 0;
  },
};

/** Refuses before the file is trusted anew: whoever has moved a repository wants its workers, not new ones. */
async function refuseMoved(here: ProjectRef): Promise<void> {
  const { result } = await listFromDaemon("ls", { here, project: null, all: false });
  const [moved] = result.moved ?? [];
  if (moved === undefined) return;
  const { name, why, command } = movedAttention(moved);
  throw new PerdureError("refused", `Project ${name}: ${why}.`, {
    hint: `${moved.absorbed ? "to bring them here" : "if it was moved here"}: ${command}; or begin anew here: perdure up --fresh`,
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

function onlyTurns(workers: readonly FleetWorker[], { file }: Fleet): PerdureError {
  const names = workers.map(({ name }) => name).join(", ");
  return new PerdureError("refused", `Nothing was started: mode = "turn" is not built yet (${names}).`, {
    hint: `leave the mode out in ${file} to run ${workers.length === 1 ? "it" : "them"} in tmux`,
  });
}

function usage(message: string, hint: string): PerdureError {
  return new PerdureError("usage", `up: ${message}`, { hint });
}

interface PreparedWorkers {
  entries: FleetEntry[];
  /** Workers that cannot be started, with the reason; the others are started. */
  refused: UpItem[];
}

/** Prepares the worktree and folder of each worker; a problem of one worker refuses only that worker. */
async function prepareWorkers(fleet: Fleet, workers: readonly FleetWorker[], out: Output): Promise<PreparedWorkers> {
  const prepared: PreparedWorkers = { entries: [], refused: [] };
  for (const worker of workers) {
    try {
      await prepareWorktree(fleet, worker, out);
      checkCwd(fleet, worker);
      prepared.entries.push(toFleetEntry(worker, fleet));
    } catch (error) {
      if (!isPerdureError(error)) throw error;
      prepared.refused.push(refusedHere(worker, error));
    }
  }
  return prepared;
}

async function prepareWorktree({ root }: Fleet, { name, worktree }: FleetWorker, out: Output): Promise<void> {
  const made = worktree && (await makeWorktree(root, worktree));
  if (made?.created) out.note(printable(`  ${name}  new worktree ${worktree?.path} on branch ${worktree?.branch}`));
}

function refusedHere({ name }: FleetWorker, { message, next }: PerdureError): UpItem {
  const noRun = { run: null, generation: 0, session: null };
  return { address: name, name, outcome: "refused", ...noRun, reason: message, ...hinted(next) };
}

async function bringUp(
  params: CallParams<"up">,
  refused: readonly UpItem[],
  out: Output,
): Promise<{ items: UpItem[]; result: UpResult }> {
  const items: UpItem[] = [];
  const width = Math.max(0, ...[...params.workers, ...refused].map(({ name }) => name.length));
  const show = (item: UpItem): void => {
    items.push(item);
    out.note(line(item, width, out));
  };
  // A saved session is entered as a whole or not at all.
  const whole = params.session !== null || params.resume !== null;
  const [first] = refused;
  if (whole && first)
    throw new PerdureError("refused", `${first.name}: ${first.reason}`, { hint: first.next ?? first.hint });
  refused.forEach(show);
  const client = await daemonClient();
  const result = await client.stream("up", client.isOlder ? forOlderDaemon(params) : params, show);
  return { items, result: { ...result, refused: result.refused + refused.length } };
}

/** A daemon of an earlier version is given each worker's environment as one. */
function forOlderDaemon({ environment: all, ...params }: CallParams<"up">): CallParams<"up"> {
  const workers = params.workers.map(({ own, ...entry }) => ({
    ...entry,
    environment: { ...all?.environment, ...own },
  }));
  return { ...params, workers };
}

function line({ name, outcome, session, generation, reason, ...item }: UpItem, width: number, out: Output): string {
  const head = out.paint.bold(name.padEnd(width));
  const hint = shownHint(item);
  const next = hint ? `\n  ${" ".repeat(width)}    ${out.paint.dim("→")} ${printable(hint)}` : "";
  if (outcome === "refused") {
    return `  ${head}  ${out.paint.red("✗")} ${printable(reason ?? "")}${next}`;
  }
  if (outcome === "running") {
    const more = [reason, hint && `→ ${hint}`].filter((part) => part !== null).map((part) => ` ${printable(part)}`);
    return `  ${head}  ${out.paint.dim(`· running already${more.join("")}`)}`;
  }
  const conversation = session === null ? "started" : `${STEPS[session.step]} ${session.vendor} ${shortId(session.id)}`;
  const restored = session?.restored ? ", restored from perdure's copy" : "";
  const note = reason === null ? "" : `\n  ${" ".repeat(width)}    ${out.paint.yellow(printable(reason))}`;
  return `  ${head}  ${out.paint.green("✓")} ${conversation}${restored}  ${out.paint.dim(`run ${generation}`)}${note}${next}`;
}

const STEPS = { new: "new", resume: "resumed", fork: "branched into" } as const;

/** Lists running workers that the file no longer declares; they are reported, never stopped unasked. */
async function runningOutsideFile(fleet: Fleet, here: ProjectRef): Promise<string[]> {
  const { items } = await listFromDaemon("ls", { here, project: null, all: false });
  const declared = new Set(fleet.workers.map(({ name }) => nameKey(name)));
  const running = items.filter(({ mode, run }) => mode === "tmux" && run !== null);
  return running.map(({ name }) => name).filter((name) => !declared.has(nameKey(name)));
}

function summary({ started, running, refused, session }: UpResult, out: Output): string {
  const parts = [`${started + running} up`, `${started} started`, `${running} running already`];
  const failed = refused === 0 ? [] : [out.paint.red(`${refused} refused`)];
  const saved = session === null ? "" : `  (saved session ${session})`;
  return `${[...parts, ...failed].join(", ")}${saved}`;
}
