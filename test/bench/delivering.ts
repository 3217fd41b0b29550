import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { binFolder, VENDOR_NAMES } from "../vendors-live/harness/pins.ts";
import type { Row } from "./report.ts";
import { milliseconds, percentile, spreadOfFew } from "./sampling.ts";

const MAIN = join(import.meta.dirname, "../vendors-live/main.ts");
const CASE = "br";

interface Result {
  vendor: string;
  mode: string;
  outcome: "ok" | "failed" | "cannot";
  why: string;
  notes: string[];
}

/**
 * From `perdure send` to the request that tells the model, beside what the program itself takes from a person's Enter to its request. With
 * every vendor's real program that is installed, in a terminal, idle, with a model on loopback.
 */
export async function deliveries(): Promise<Row[]> {
  const installed = VENDOR_NAMES.filter((name) => existsSync(binFolder(name)));
  if (installed.length === 0) throw new Error("no vendor's program is installed: node scripts/vendors.js");
  const rows: Row[] = [];
  // One after the other: each has the machine for itself.
  for (const vendor of installed) {
    const args = [MAIN, "--case", CASE, "--json", "--vendor", vendor];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const results = (JSON.parse(stdout) as Result[]).filter(({ outcome }) => outcome !== "cannot");
    rows.push(...results.map((result) => rowOf(result)));
  }
  return rows;
}

function rowOf({ vendor, outcome, why, notes }: Result): Row {
  if (outcome === "failed") throw new Error(`${vendor}: ${why}`);
  const [typed, mailed] = ["typedMs", "mailedMs"].map((what) =>
    notes.map((note) => Number(new RegExp(`${what}=([0-9.]+)`).exec(note)?.[1])),
  ) as [number[], number[]];
  const [ours, floor] = [percentile(mailed, 0.5), percentile(typed, 0.5)];
  return {
    what: `send, until it is in the model's request, ${vendor}`,
    ours: milliseconds(ours),
    floor: `${milliseconds(floor)} from Enter`,
    value: ours / floor,
    goal: null,
    spread: spreadOfFew(typed),
  };
}
