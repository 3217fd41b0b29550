import { connect } from "../client/connect.ts";
import type { Fleet, FleetWorker } from "../project/fleet.ts";
import { makeWorktree } from "../project/worktree.ts";
import type { CallParams, Place } from "../protocol/calls.ts";
import type { UpItem, UpResult } from "../protocol/fleet.ts";
import { nameKey } from "../protocol/names.ts";
import { askList } from "./call.ts";
import type { Command, Invocation } from "./command.ts";
import { chosen, entryOf, mustHaveFleet } from "./fleet.ts";
import { foundHere, placeHere } from "./here.ts";
import { printable, type Output } from "./output.ts";
import { shortId } from "./table.ts";
import { assureTrust } from "./trust.ts";

export const up: Command = {
  summary: "bring the fleet of perdure.toml up in tmux, each worker in its own conversation",
  usage: "[WORKER…] [--session S | --resume S [--allow-fresh NAME]] [--fresh] [--yes]",
  details: [
    "What runs already is left alone; what does not is started, or comes back exactly where it was: after a crash, a reboot",
    "or an upgrade it is the same command. From then on the daemon keeps it running, until `perdure down`.",
    "--session S keeps the saved session S current: a new name takes over the conversations of now, unless they are another",
    "saved session's, then it begins with new ones. --resume S brings every worker back to its conversation in S, or",
    "starts nothing and says why; --allow-fresh NAME lets that one begin anew. --fresh begins anew everywhere.",
  ].join("\n"),
  examples: ["perdure up", "perdure up coder", "perdure up --session friday", "perdure up --resume friday"],
  options: {
    session: { type: "string" },
    resume: { type: "string" },
    "allow-fresh": { type: "string", multiple: true },
    fresh: { type: "boolean" },
    yes: { type: "boolean", short: "y" },
  },
  words: [0, 500],

  // read → trusted? → worktrees → the daemon claims, plans and starts → one line per worker
  async run({ words, values, out }) {
    const found = foundHere();
    const here = placeHere(found);
    const fleet = mustHaveFleet(found);
    const workers = chosen(fleet, words);
    await assureTrust(fleet, here, values.yes === true, out);
    const inPanes = workers.filter(({ mode }) => mode === "tmux");
    for (const { name } of workers.filter(({ mode }) => mode === "turn")) {
      out.note(`  ${name}  has no process between messages (mode = "turn"): nothing to start`);
    }
    await makeWorktrees(fleet, inPanes, out);
    const entries = inPanes.map((worker) => entryOf(worker, found));
    // Asked before: afterwards the machine is busy with fifty agents that start.
    const others = words.length === 0 ? await runningOthers(fleet, here) : [];
    const { items, result } = await bringUp({ here, text: fleet.text, workers: entries, ...wish(values) }, out);
    for (const name of others) out.note(`  ${name}  runs and is not in ${printable(fleet.file)}: perdure stop ${name}`);
    out.result({ workers: items, ...result }, () => summary(result, out));
    return result.refused > 0 ? REFUSED_EXIT : 0;
  },
};

/** The exit code of a refusal, when others came up. */
const REFUSED_EXIT = 5;

function wish(values: Invocation["values"]): Pick<CallParams<"up">, "session" | "resume" | "allowFresh" | "fresh"> {
  const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
  const allowed: unknown = values["allow-fresh"];
  return {
    session: text(values.session),
    resume: text(values.resume),
    allowFresh: Array.isArray(allowed) ? allowed.map(String) : [],
    fresh: values.fresh === true,
  };
}

async function makeWorktrees({ root }: Fleet, workers: readonly FleetWorker[], out: Output): Promise<void> {
  for (const { name, worktree } of workers) {
    if (worktree === null) continue;
    const { created } = await makeWorktree(root, worktree);
    if (created) out.note(printable(`  ${name}  new worktree ${worktree.path} on branch ${worktree.branch}`));
  }
}

async function bringUp(params: CallParams<"up">, out: Output): Promise<{ items: UpItem[]; result: UpResult }> {
  const items: UpItem[] = [];
  const width = Math.max(0, ...params.workers.map(({ name }) => name.length));
  const client = await connect();
  try {
    const result = await client.stream("up", params, (item) => {
      items.push(item);
      out.note(line(item, width, out));
    });
    return { items, result };
  } finally {
    client.close();
  }
}

function line({ name, outcome, session, generation, reason, hint }: UpItem, width: number, out: Output): string {
  const head = out.paint.bold(name.padEnd(width));
  if (outcome === "refused") {
    const next = hint ? `\n  ${" ".repeat(width)}    ${out.paint.dim("→")} ${printable(hint)}` : "";
    return `  ${head}  ${out.paint.red("✗")} ${printable(reason ?? "")}${next}`;
  }
  if (outcome === "running") return `  ${head}  ${out.paint.dim("· running already")}`;
  const conversation = session === null ? "started" : `${STEPS[session.step]} ${session.vendor} ${shortId(session.id)}`;
  const restored = session?.restored ? ", put back from the copy that was kept" : "";
  return `  ${head}  ${out.paint.green("✓")} ${conversation}${restored}  ${out.paint.dim(`run ${generation}`)}`;
}

const STEPS = { new: "new", resume: "resumed", fork: "branched into" } as const;

/** Somebody has taken them out of the file: they are not ours to stop without being asked. */
async function runningOthers(fleet: Fleet, here: Place): Promise<string[]> {
  const { items } = await askList("ls", { here, project: null, all: false });
  const named = new Set(fleet.workers.map(({ name }) => nameKey(name)));
  const running = items.filter(({ mode, run }) => mode === "tmux" && run !== null);
  return running.map(({ name }) => name).filter((name) => !named.has(nameKey(name)));
}

function summary({ started, running, refused, session }: UpResult, out: Output): string {
  const parts = [`${started + running} up`, `${started} started`, `${running} running already`];
  const failed = refused === 0 ? [] : [out.paint.red(`${refused} refused`)];
  const named = session === null ? "" : `  (saved session ${session})`;
  return `${[...parts, ...failed].join(", ")}${named}`;
}
