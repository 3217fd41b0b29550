import { userInfo } from "node:os";
import { connectToDaemon } from "../../client/connect.ts";
import { TAKEOVER_TERM_WAIT_MS } from "../../limits/index.ts";
import type { CallParams } from "../../protocol/calls/index.ts";
import { shownHint } from "../../protocol/hint.ts";
import type { DownItem } from "../../protocol/records/fleet.ts";
import type { DeclaredWorker } from "../../project/fleet/names.ts";
import { exitCodeOf, PerdureError } from "../../protocol/errors.ts";
import { nameKey } from "../../protocol/names.ts";
import { noteMoved } from "../shared/warnings/moved-note.ts";
import type { Command } from "../shared/command.ts";
import { declaredWorkersHere, findProjectHere, projectOfRun, projectRefHere, targetOf } from "../shared/here.ts";
import { wholeNumber } from "../shared/arguments/parse.ts";
import { printable, type Output } from "../shared/output.ts";

export const down: Command = {
  summary: "stop the fleet: every worker that was brought up here",
  usage: "[WORKER… | --all] [--kill-after SECONDS]",
  details: [
    "Each worker gets TERM, later KILL. Only processes that carry the worker's run are signalled. Names, conversations and",
    "mail stay: `perdure up` brings the workers back. The name of an entry with a `count` stands for all of its workers,",
    "as in `up`.",
  ].join("\n"),
  examples: ["perdure down", "perdure down coder-1", "perdure down --kill-after 30", "perdure down --all"],
  options: {
    "kill-after": { value: "SECONDS", about: "how long to wait between TERM and KILL (5)" },
    all: { short: "a", about: "the fleets of every project" },
  },
  completes: ["worker"],
  words: [0, 500],

  async run({ words, values, out }) {
    const seconds = wholeNumber("--kill-after", values["kill-after"], { least: 0, most: 600 });
    if (values.all === true) return bringEverythingDown(words, seconds, out);
    return bringDown(words, seconds, out);
  },
};

/** Stops these workers, or all of entries with these names, or without names all that were brought up here. Returns the exit code. */
export async function bringDown(names: readonly string[], seconds: number | null, out: Output): Promise<number> {
  const found = findProjectHere();
  const here = projectRefHere(found);
  const project = projectOfRun();
  const client = await connectToDaemon();
  try {
    const { items: workers } = await client.collect("ls", { here, project, all: false });
    const named = membersOf(names, declaredWorkersHere(found), workers);
    const params: CallParams<"down"> = {
      here,
      project,
      targets: names.length === 0 ? null : named.map((name) => targetOf(name, here)),
      ...stopOptions(seconds),
    };
    const items: DownItem[] = [];
    const width = Math.max(0, ...(params.targets ?? workers).map(({ name }) => name.length));
    const result = await client.stream("down", params, (item) => {
      items.push(item);
      out.note(`  ${out.paint.bold(item.name.padEnd(width))}  ${line(item, out)}`);
    });
    out.result({ workers: items, ...result }, () => summary(items));
    if (items.length === 0) await noteMoved(here, out);
    return result.failed > 0 ? exitCodeOf("timed-out") : 0;
  } finally {
    client.close();
  }
}

/** Stops every worker that was brought up, in all projects. */
async function bringEverythingDown(names: readonly string[], seconds: number | null, out: Output): Promise<number> {
  if (names.length > 0) {
    throw new PerdureError("usage", "down: --all takes no names.", { hint: "perdure down --all" });
  }
  const here = projectRefHere();
  const client = await connectToDaemon();
  try {
    const { items: workers } = await client.collect("ls", { here, project: null, all: true });
    const width = Math.max(0, ...workers.map(({ address }) => address.length));
    const items: DownItem[] = [];
    const show = (item: DownItem): void => {
      items.push(item);
      out.note(`  ${out.paint.bold(item.address.padEnd(width))}  ${line(item, out)}`);
    };
    const results = [];
    for (const project of new Set(workers.map((worker) => worker.project))) {
      results.push(await client.stream("down", { here, project, targets: null, ...stopOptions(seconds) }, show));
    }
    const [stopped, failed] = [sum(results.map((each) => each.stopped)), sum(results.map((each) => each.failed))];
    out.result({ workers: items, stopped, failed, count: items.length }, () => summary(items));
    return failed > 0 ? exitCodeOf("timed-out") : 0;
  } finally {
    client.close();
  }
}

function stopOptions(seconds: number | null): Pick<CallParams<"down">, "by" | "killAfterMs"> {
  return {
    by: `operator ${userInfo().username}`,
    killAfterMs: seconds === null ? TAKEOVER_TERM_WAIT_MS : seconds * 1000,
  };
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** Takes the name of an entry of the fleet file for the workers that it made, as `up` does. */
function membersOf(
  names: readonly string[],
  declared: readonly DeclaredWorker[],
  workers: readonly { name: string }[],
): string[] {
  const known = new Set(workers.map(({ name }) => nameKey(name)));
  const members = (word: string): string[] => {
    const made = declared.filter(({ name, entry }) => nameKey(entry) === nameKey(word) && known.has(nameKey(name)));
    return made.length === 0 || known.has(nameKey(word)) ? [word] : made.map(({ name }) => name);
  };
  return [...new Set(names.flatMap(members))];
}

function line({ outcome, reason, ...item }: DownItem, out: Output): string {
  if (outcome === "killed") return out.paint.yellow("killed: it did not end by itself");
  const hint = shownHint(item);
  const why = hint === null ? reason : `${reason} (${hint})`;
  return outcome === "failed" ? out.paint.red(`✗ ${printable(why ?? "")}`) : outcome;
}

function summary(items: readonly DownItem[]): string {
  const count = (outcome: DownItem["outcome"]): number => items.filter((item) => item.outcome === outcome).length;
  if (items.length === 0) return "nothing was up";
  const [stopped, killed, already] = [count("stopped"), count("killed"), count("already stopped")];
  const failed = count("failed");
  return [
    `${stopped + killed} stopped`,
    ...(killed > 0 ? [`${killed} of them killed`] : []),
    ...(already > 0 ? [`${already} already stopped`] : []),
    ...(failed > 0 ? [`${failed} could not be stopped`] : []),
  ].join(", ");
}
