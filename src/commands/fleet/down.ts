import { userInfo } from "node:os";
import { connectToDaemon } from "../../client/connect.ts";
import { TAKEOVER_TERM_WAIT_MS } from "../../limits/index.ts";
import type { CallParams } from "../../protocol/calls/index.ts";
import type { DownItem } from "../../protocol/records/fleet.ts";
import { exitCodeOf } from "../../protocol/errors.ts";
import type { Command } from "../shared/command.ts";
import { projectOfRun, projectRefHere, targetOf } from "../shared/here.ts";
import { wholeNumber } from "../shared/parse.ts";
import { printable, type Output } from "../shared/output.ts";

export const down: Command = {
  summary: "bring the fleet down: stop every worker that was brought up here",
  usage: "[WORKER…] [--kill-after SECONDS]",
  details: [
    "Each worker gets TERM, and KILL after --kill-after (5) seconds. Only processes that carry the worker's run are",
    "signalled. Names, conversations and mail stay: `perdure up` brings the workers back.",
  ].join("\n"),
  examples: ["perdure down", "perdure down coder-1", "perdure down --kill-after 30"],
  options: { "kill-after": { type: "string" } },
  words: [0, 500],

  async run({ words, values, out }) {
    const seconds = wholeNumber("--kill-after", values["kill-after"], { least: 0, most: 600 });
    return bringDown(words, seconds, out);
  },
};

/** Stops these workers, or without names all that were brought up here. Returns the exit code. */
export async function bringDown(names: readonly string[], seconds: number | null, out: Output): Promise<number> {
  const here = projectRefHere();
  const params: CallParams<"down"> = {
    here,
    project: projectOfRun(),
    targets: names.length === 0 ? null : [...new Set(names)].map((name) => targetOf(name, here)),
    by: `operator ${userInfo().username}`,
    killAfterMs: seconds === null ? TAKEOVER_TERM_WAIT_MS : seconds * 1000,
  };
  const items: DownItem[] = [];
  const client = await connectToDaemon();
  try {
    const workers = params.targets ?? (await client.collect("ls", { here, project: params.project, all: false })).items;
    const width = Math.max(0, ...workers.map(({ name }) => name.length));
    const result = await client.stream("down", params, (item) => {
      items.push(item);
      out.note(`  ${out.paint.bold(item.name.padEnd(width))}  ${line(item, out)}`);
    });
    out.result({ workers: items, ...result }, () => summary(items));
    return result.failed > 0 ? exitCodeOf("timed-out") : 0;
  } finally {
    client.close();
  }
}

function line({ outcome, reason }: DownItem, out: Output): string {
  if (outcome === "killed") return out.paint.yellow("killed: it did not end by itself");
  return outcome === "failed" ? out.paint.red(`✗ ${printable(reason ?? "")}`) : outcome;
}

function summary(items: readonly DownItem[]): string {
  const count = (outcome: DownItem["outcome"]): number => items.filter((item) => item.outcome === outcome).length;
  if (items.length === 0) return "nothing was up";
  const [stopped, killed, already] = [count("stopped"), count("killed"), count("stopped already")];
  const failed = count("failed");
  return [
    `${stopped + killed} stopped`,
    ...(killed > 0 ? [`${killed} of them killed`] : []),
    ...(already > 0 ? [`${already} stopped already`] : []),
    ...(failed > 0 ? [`${failed} could not be stopped`] : []),
  ].join(", ");
}
