import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { campaign, seeded } from "../support/campaign.ts";
import { BIN, type Home } from "../support/home.ts";
import { MARK, obeyed } from "./22-payload.ts";
import { plantHostileData, type Listing } from "./22-hostile-data.ts";
import { check, pick, within } from "../support/check.ts";
import { inHome } from "../support/in-home.ts";

type Mode = "plain" | "coloured" | "json";
/** The end of a frame on the alternate screen. */
const PAINTED = "\u001b[?2026l";
const MODES: readonly Mode[] = ["plain", "coloured", "json"];

interface Size {
  rounds: number;
  /** Every verb in every mode, or in one of them by chance. */
  everyMode: boolean;
}

export const safeOutput = campaign<Size>({
  number: 22,
  promise: "terminal output is safe",
  reduced: { rounds: 1, everyMode: false },
  full: { rounds: 25, everyMode: true },
  async run(size, seed) {
    if (spawnSync("script", ["--version"]).status !== 0) {
      process.stdout.write("campaign 22 is skipped: there is no script(1) to make a terminal\n");
      return { skipped: 1 };
    }
    return inHome((home) => play(home, size, seed));
  },
});

async function play(home: Home, size: Size, seed: number): Promise<Record<string, number>> {
  const random = seeded(seed);
  const tally = { listings: 0, shownHarmless: 0, bytes: 0, obeyedFromData: 0, verbs: new Set<string>() };
  for (let round = 0; round < size.rounds; round++) {
    for (const listing of await plantHostileData(home, round, random)) {
      const modes = MODES.filter((mode) => mode !== "json" || listing.endless !== true);
      for (const mode of size.everyMode ? modes : [pick(random, modes)]) await list(home, listing, mode, tally);
    }
  }
  const { verbs, ...counts } = tally;
  return { rounds: size.rounds, verbs: verbs.size, ...counts };
}

async function list(
  home: Home,
  { args, cwd, shows }: Listing,
  mode: Mode,
  tally: { listings: number; shownHarmless: number; bytes: number; obeyedFromData: number; verbs: Set<string> },
): Promise<void> {
  if (args[0] === "backup") rmSync(args[1] ?? "", { force: true });
  const output = await onTerminal(home, mode === "json" ? [...args, "--json"] : args, cwd, mode !== "coloured");
  const about = (): string => `perdure ${JSON.stringify(args)} (${mode})`;
  const found = obeyed(withoutOwnScreen(output), mode === "coloured");
  tally.obeyedFromData += found.length;
  check(found.length === 0, () => `${about()} printed ${JSON.stringify(found.slice(0, 3))}`);
  // A verb that shows nothing of it proves nothing.
  const mustShow = shows === true || (shows === "as talk" && mode !== "json");
  check(!mustShow || output.includes(MARK), () => `${about()} showed nothing hostile: ${JSON.stringify(output)}`);
  tally.listings++;
  tally.bytes += Buffer.byteLength(output);
  if (/\\u(?:001b|009|008|0007|0008|202|200|061|206|007f|000)/i.test(output)) tally.shownHarmless++;
  tally.verbs.add(args[0]?.includes(MARK) ? "(none)" : (args[0] ?? "(bare)"));
}

/**
 * The alternate screen as perdure itself enters, paints and leaves it. Each piece is longer than what hostile data is made of, so
 * that data cannot pass for it.
 */
const OWN_SCREEN = [
  "\u001b[?1049h\u001b[22;2t\u001b[?25l\u001b[?7l\u001b[?2004h",
  "\u001b[?2026h\u001b[H",
  "\u001b[K\n",
  "\u001b[K\u001b[J\u001b[?2026l",
  "\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[23;2t\u001b[?1049l",
];
/** The title as perdure itself sets it: of data only names of workers are in it, which have no other characters. */
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const OWN_TITLE = /\u001b\]2;(?:perdure|◆ [0-9]+ needs? you: [A-Za-z0-9._ -]+)\u0007/g;

function withoutOwnScreen(output: string): string {
  const untitled = output.replaceAll(OWN_TITLE, "");
  return OWN_SCREEN.reduce((rest, piece) => rest.replaceAll(piece, "\n"), untitled.replaceAll(/\r+\n/g, "\n"));
}

/** All that arrives at a real terminal, standard error included. A screen that waits for keys is left by `q`. */
async function onTerminal(home: Home, args: string[], cwd: string, plain: boolean): Promise<string> {
  const command = [BIN, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const child = spawn("script", ["-qec", command, "/dev/null"], {
    cwd,
    env: { ...home.env, SHELL: "/bin/sh", ...(plain ? { NO_COLOR: "1" } : {}) },
    // Its input stays open: at the end of it script(1) types ^D, and the terminal would show that.
    stdio: ["pipe", "pipe", "inherit"],
  });
  const chunks: Buffer[] = [];
  let left = false;
  child.stdout.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    // Once it has painted what there is to show.
    const shown = Buffer.concat(chunks).toString("utf8");
    if (left || !shown.includes(PAINTED) || !shown.includes(MARK)) return;
    left = true;
    child.stdin.write("q");
  });
  await within(`perdure ${args.join(" ")} on a terminal`, once(child, "close"));
  return Buffer.concat(chunks).toString("utf8");
}
