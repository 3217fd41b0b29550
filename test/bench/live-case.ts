import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { binFolder, VENDOR_NAMES } from "../vendors-live/harness/pins.ts";
import type { Row } from "./report.ts";

const MAIN = join(import.meta.dirname, "../vendors-live/main.ts");

interface Result {
  vendor: string;
  mode: string;
  outcome: "ok" | "failed" | "cannot";
  why: string;
  notes: string[];
}

/** Plays a case with every vendor's real program that is installed, and makes a row of what each noted, by the names of its figures. */
export async function rowsOfCase(
  letter: string,
  rowOf: (vendor: string, figures: (name: string) => number[]) => Row,
): Promise<Row[]> {
  const installed = VENDOR_NAMES.filter((name) => existsSync(binFolder(name)));
  if (installed.length === 0) throw new Error("no vendor's program is installed: node scripts/vendors.js");
  const rows: Row[] = [];
  // One after the other: each has the machine for itself.
  for (const vendor of installed) {
    for (const { outcome, why, notes } of await play(letter, vendor)) {
      if (outcome === "cannot") continue;
      if (outcome === "failed") throw new Error(`${vendor}: ${why}`);
      rows.push(rowOf(vendor, (name) => notes.map((note) => Number(new RegExp(`${name}=([0-9.]+)`).exec(note)?.[1]))));
    }
  }
  return rows;
}

async function play(letter: string, vendor: string): Promise<Result[]> {
  const args = [MAIN, "--case", letter, "--json", "--vendor", vendor];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Result[];
}
