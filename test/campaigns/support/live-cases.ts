import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { check } from "../../support/check.ts";
import { binFolder, VENDOR_NAMES, type VendorName } from "../../vendors-live/harness/pins.ts";
import { TRAITS } from "../../vendors-live/traits.ts";

const MAIN = join(import.meta.dirname, "../../vendors-live/main.ts");
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

interface Result {
  vendor: string;
  letter: string;
  mode: string;
  outcome: "ok" | "failed" | "cannot";
  why: string;
  notes: string[];
}

/**
 * Plays cases of `npm run test:vendors` with the vendors' real programs, as far as those are installed; returns what they noted. A program
 * that keeps its conversations in a database takes half a minute to start on a busy machine: cases that start programs all the time can
 * leave it out.
 */
export async function playLiveCases(
  campaign: number,
  letters: string,
  { withDatabases }: { withDatabases: boolean },
): Promise<{ vendors: readonly VendorName[]; notes: string[] }> {
  const wanted = VENDOR_NAMES.filter((name) => withDatabases || TRAITS[name]?.database === null);
  const installed = wanted.filter((name) => existsSync(binFolder(name)));
  const missing = wanted.filter((name) => !installed.includes(name));
  if (missing.length > 0) {
    process.stderr.write(
      `${campaign}: without ${missing.join(", ")}, not installed: node scripts/vendors.js ${missing.join(" ")}\n`,
    );
  }
  if (installed.length === 0) return { vendors: [], notes: [] };
  const args = [MAIN, "--case", letters, "--json", "--vendor", installed.join(",")];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: OUTPUT_BYTES_MAX });
  const results = JSON.parse(stdout) as Result[];
  const failed = results.find(({ outcome }) => outcome === "failed");
  check(failed === undefined, () => `${failed?.vendor} ${failed?.letter} ${failed?.mode}: ${failed?.why}`);
  return { vendors: installed, notes: results.flatMap(({ notes }) => notes) };
}
