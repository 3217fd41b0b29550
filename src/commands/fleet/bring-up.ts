import { checkCwd } from "../../project/fleet/cwd.ts";
import type { Fleet, FleetWorker } from "../../project/fleet/read.ts";
import { makeWorktree } from "../../project/worktree/make.ts";
import type { CallParams, FleetEntry, ProjectRef } from "../../protocol/calls/index.ts";
import { hinted, shownHint } from "../../protocol/hint.ts";
import type { UpItem, UpResult } from "../../protocol/records/fleet.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { daemonClient, listFromDaemon } from "../shared/call.ts";
import { fleetEnvironment, toFleetEntry } from "../shared/launch/fleet-entries.ts";
import { printable, type Output } from "../shared/output.ts";
import { shortId } from "../shared/table/table.ts";
import { trustedContent } from "../shared/launch/trusted-content.ts";

type BringUp = Pick<CallParams<"up">, "session" | "resume" | "allowFresh" | "fresh"> & {
  fleet: Fleet;
  here: ProjectRef;
  workers: readonly FleetWorker[];
};

/** Brings workers of a trusted fleet file up, and prints one line for each. */
export async function bringUpWorkers(
  { fleet, here, workers, ...options }: BringUp,
  out: Output,
): Promise<{ items: UpItem[]; result: UpResult }> {
  const { items: listed } = await listFromDaemon("ls", { here, project: null, all: false });
  const known = new Set(listed.flatMap(({ session }) => (session === null ? [] : [session.id])));
  const { entries, refused } = await prepareWorkers(fleet, workers, out);
  const environment = fleetEnvironment(fleet, out);
  return bringUp(
    { here, ...trustedContent(fleet), environment, workers: entries, ...options },
    { refused, known },
    out,
  );
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
  { refused, known }: { refused: readonly UpItem[]; known: ReadonlySet<string> },
  out: Output,
): Promise<{ items: UpItem[]; result: UpResult }> {
  const items: UpItem[] = [];
  const width = Math.max(0, ...[...params.workers, ...refused].map(({ name }) => name.length));
  const show = (item: UpItem): void => {
    items.push(item);
    out.note(line(item, width, known, out));
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

function line(
  { name, outcome, session, generation, reason, ...item }: UpItem,
  width: number,
  known: ReadonlySet<string>,
  out: Output,
): string {
  const head = out.paint.bold(name.padEnd(width));
  const hint = shownHint(item);
  const next = hint ? `\n  ${" ".repeat(width)}    ${out.paint.dim("→")} ${printable(hint)}` : "";
  if (outcome === "refused") {
    return `  ${head}  ${out.paint.red("✗")} ${printable(reason ?? "")}${next}`;
  }
  if (outcome === "running") {
    const more = [reason, hint && `→ ${hint}`].filter((part) => part !== null).map((part) => ` ${printable(part)}`);
    return `  ${head}  ${out.paint.dim(`· already running${more.join("")}`)}`;
  }
  if (outcome === "asleep") {
    const where = session === null ? "in a new conversation" : `in ${session.vendor} ${shortId(session.id)}`;
    return `  ${head}  ${out.paint.green("○")} asleep; each message starts it for a turn, ${where}`;
  }
  // The sign of `ls` for a conversation that the agent has not shown to be in: only `ls` can tell, a moment later.
  const sign = session === null ? out.paint.green("●") : out.paint.yellow("?");
  // One of which nothing was said yet is begun once more, under its id: it is not another one.
  const isBegunAgain = session?.step === "new" && known.has(session.id);
  const step = session && (isBegunAgain ? "still empty," : STEPS[session.step]);
  const conversation =
    session === null ? "started" : `${step} ${session.vendor} ${shortId(session.id)}, not verified yet`;
  const restored = session?.restored ? ", restored from perdure's copy" : "";
  const note = reason === null ? "" : `\n  ${" ".repeat(width)}    ${out.paint.yellow(printable(reason))}`;
  return `  ${head}  ${sign} ${conversation}${restored}  ${out.paint.dim(`run ${generation}`)}${note}${next}`;
}

const STEPS = { new: "new", resume: "resumed", fork: "branched into" } as const;
