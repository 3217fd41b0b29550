import { setTimeout as sleep } from "node:timers/promises";
import { SCREEN_LINES_MAX } from "../../limits/index.ts";
import type { Target } from "../../protocol/calls/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import type { ScreenRecord } from "../../protocol/records/fleet.ts";
import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { targetOf } from "../shared/here.ts";
import { wholeNumber } from "../shared/parse.ts";
import { printable, type Output } from "../shared/output.ts";

const LINES = 200;
/** A terminal is read, not listened to: what it shows changes as a whole. */
const FOLLOW_MS = 500;

export const logs: Command = {
  summary: "what a worker's terminal shows and has shown",
  usage: "NAME [-f] [--lines N] [--run RUN]",
  details: [
    "Of a worker that was brought up (perdure up): the last lines of its pane, as text; after its end, what was kept of it.",
    "-f goes on with what is new. --run shows an earlier run's last screen, by the number or the id that perdure history",
    "NAME has for it. To be there yourself: perdure attach NAME.",
  ].join("\n"),
  examples: ["perdure logs coder", "perdure logs coder -f", "perdure logs coder --run 3"],
  options: { follow: { type: "boolean", short: "f" }, lines: { type: "string", short: "n" }, run: { type: "string" } },
  words: [1, 1],

  async run({ words, values, out }) {
    const target = targetOf(words[0] ?? "");
    const lines = wholeNumber("--lines", values.lines, { least: 1, most: SCREEN_LINES_MAX }) ?? LINES;
    const run = typeof values.run === "string" ? values.run : undefined;
    if (run !== undefined && values.follow === true) {
      throw new PerdureError("usage", "logs: --run is of one run, -f follows the name.", { hint: "give one of them" });
    }
    const screen = await callDaemon("readScreen", { target, lines, run });
    if (values.follow !== true) return out.result(screen, () => printable(screen.text));
    await follow(target, screen, out);
  },
};

async function isComingBack(target: Target): Promise<boolean> {
  const { state, run } = await callDaemon("show", { target });
  return run !== null || state === "backing-off" || state === "starting";
}

async function follow(target: Target, first: ScreenRecord, out: Output): Promise<void> {
  let seen = first;
  const show = (lines: string[]): void => {
    for (const text of lines) out.item({ text }, () => printable(text) || " ");
  };
  show(seen.text.split("\n"));
  // The name is followed, not the run: one that is started again goes on here.
  while (seen.live || (await isComingBack(target))) {
    await sleep(FOLLOW_MS);
    const now = await callDaemon("readScreen", { target, lines: SCREEN_LINES_MAX }).catch((error: unknown) => {
      if (isPerdureError(error) && error.code === "not-found") return null;
      throw error;
    });
    if (now === null) return;
    show(newLines(seen.text.split("\n"), now.text.split("\n")));
    seen = now;
  }
}

/**
 * Returns the lines that a terminal did not show before, without those that only moved: they follow the longest tail of
 * the old text that the new text contains. After a program has repainted its screen, all lines are new.
 */
function newLines(before: readonly string[], now: readonly string[]): string[] {
  for (let from = 0; from < before.length; from++) {
    const known = before.slice(from);
    const at = lastOccurrence(now, known);
    if (at >= 0) return now.slice(at + known.length);
  }
  return [...now];
}

function lastOccurrence(lines: readonly string[], block: readonly string[]): number {
  for (let at = lines.length - block.length; at >= 0; at--) {
    if (block.every((line, index) => lines[at + index] === line)) return at;
  }
  return -1;
}
