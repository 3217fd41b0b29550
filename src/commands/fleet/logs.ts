import { setTimeout as sleep } from "node:timers/promises";
import { LOG_FOLLOW_MS, LOG_LINES_DEFAULT, SCREEN_LINES_MAX, TURNS_MISSED_MAX } from "../../limits/index.ts";
import type { Target } from "../../protocol/calls/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import type { ScreenRecord } from "../../protocol/records/fleet.ts";
import { callDaemon, listFromDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { targetOf } from "../shared/here.ts";
import { wholeNumber } from "../shared/arguments/parse.ts";
import { printable, type Output } from "../shared/output.ts";

export const logs: Command = {
  summary: "print what a worker's terminal shows, or its turn",
  usage: "NAME [options]",
  details: [
    "Prints the last lines of the pane of a worker that was brought up (perdure up), as text; after the worker's end, its",
    "last screen. To go to the terminal itself: perdure attach NAME. Of a worker of turns it prints the last turn.",
  ].join("\n"),
  examples: ["perdure logs coder", "perdure logs coder -f", "perdure logs coder --run 3"],
  options: {
    follow: { short: "f", about: "go on printing what comes, until Ctrl-C" },
    lines: { value: "N", short: "n", about: `the last N lines (${LOG_LINES_DEFAULT})` },
    run: { value: "RUN", about: "the last screen of an earlier run, by its number or id in `perdure history`" },
  },
  completes: ["worker"],
  words: [1, 1],

  async run({ words, values, out }) {
    const target = targetOf(words[0] ?? "");
    const lines = wholeNumber("--lines", values.lines, { least: 1, most: SCREEN_LINES_MAX }) ?? LOG_LINES_DEFAULT;
    const run = typeof values.run === "string" ? values.run : undefined;
    if (run !== undefined && values.follow === true) {
      throw new PerdureError("usage", "logs: --run and -f cannot be combined.", { hint: "give one of them" });
    }
    const read = callDaemon("readScreen", { target, lines, run });
    if (values.follow === true) return follow(target, await read.catch(onceItHasOne), out);
    const screen = await read;
    const goesOn = screen.turn !== undefined && screen.live ? ["… the turn goes on"] : [];
    out.result(screen, () => printable([...linesOf(screen.text), ...goesOn].join("\n")));
  },
};

async function isComingBack(target: Target): Promise<boolean> {
  const { state, run } = await callDaemon("show", { target });
  return run !== null || state === "backing-off" || state === "starting" || state === "asleep";
}

type Shown = Pick<ScreenRecord, "text" | "live" | "turn">;

/** A worker that sleeps, and never had a turn, has nothing to show until its mail begins one; of any other it is an error. */
function onceItHasOne(error: unknown): null {
  if (isPerdureError(error) && error.details?.asleep === true) return null;
  throw error;
}

async function follow(target: Target, first: ScreenRecord | null, out: Output): Promise<void> {
  let screen: Shown = first ?? { text: "", live: false };
  const show = (lines: string[]): void => {
    for (const text of lines) out.item({ text }, () => printable(text) || " ");
  };
  if (first !== null) show(first.text.split("\n"));
  // The worker is followed, not its run: after a restart the output continues.
  while (screen.live || (await isComingBack(target))) {
    await sleep(LOG_FOLLOW_MS);
    const next = await callDaemon("readScreen", { target, lines: SCREEN_LINES_MAX }).catch((error: unknown) => {
      if (isPerdureError(error) && error.details?.asleep === true) return screen;
      if (isPerdureError(error) && error.code === "not-found") return null;
      throw error;
    });
    if (next === null) return;
    if (screen.turn !== undefined && screen.turn !== next.turn) {
      for (const { text, turn } of await endedMeanwhile(target, screen.turn, next))
        show(turn === screen.turn ? newLines(screen.text.split("\n"), text.split("\n")) : linesOf(text));
    }
    const isOther = screen.text === "" || screen.turn !== next.turn;
    show(isOther ? linesOf(next.text) : newLines(screen.text.split("\n"), next.text.split("\n")));
    screen = next;
  }
}

/** Returns the rest of a turn that was followed, and the turns after it, up to what is shown next: a look misses those that are short. */
async function endedMeanwhile(target: Target, followed: string, next: Shown): Promise<ScreenRecord[]> {
  const { items } = await listFromDaemon("history", { target, limit: TURNS_MISSED_MAX });
  const at = items.findIndex(({ id }) => id === followed);
  const missed = items.slice(0, at + 1).filter(({ id, turn }) => turn !== undefined && id !== next.turn);
  const screens: ScreenRecord[] = [];
  for (const { id } of missed.toReversed())
    screens.push(await callDaemon("readScreen", { target, lines: SCREEN_LINES_MAX, run: id }));
  return screens;
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.split("\n");
}

/**
 * Returns the lines that a terminal did not show before, without those that only moved: they follow the longest tail of
 * the old text that the new text contains. After a program has repainted its screen, all lines are new.
 */
function newLines(before: readonly string[], now: readonly string[]): string[] {
  if (before.every((line, at) => now[at] === line)) return now.slice(before.length);
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
