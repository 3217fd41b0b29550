import type { VendorName } from "./harness/pins.ts";
import type { Case, Mode } from "./case.ts";
import { LiveSetup } from "./setup.ts";
import { TRAITS } from "./traits.ts";

/** One more than the cores of a small machine: in a terminal there is more waiting than work. */
const AT_ONCE = 3;
const MODES: readonly Mode[] = ["headless", "tui"];

export interface Result {
  vendor: VendorName;
  letter: string;
  title: string;
  mode: Mode;
  outcome: "ok" | "failed" | "cannot";
  ms: number;
  /** The failure, or the reason why the case cannot be done. */
  why: string;
  notes: string[];
}

interface Job {
  vendor: VendorName;
  each: Case;
  mode: Mode;
}

/** Every case; those of slow programs that there is time for; fewer still, for every change. */
export type Effort = "whole" | "usual" | "quick";

/** Runs every case with every vendor in every mode, each in a home of its own. */
export async function runCases(
  vendors: readonly VendorName[],
  cases: readonly Case[],
  { patient, effort }: { patient: boolean; effort: Effort },
): Promise<Result[]> {
  const all = cases.flatMap((each) => MODES.flatMap((mode) => vendors.map((vendor): Job => ({ vendor, each, mode }))));
  const jobs = all.filter((job) => isWanted(job, effort));
  const results: Result[] = [];
  const queue = [...jobs.entries()];
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) results[next[0]] = await play(next[1], patient);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}

/** Some programs take half a minute to start: of those, not every case every time. */
function isWanted({ vendor, each: { letter, unhurried, long }, mode }: Job, effort: Effort): boolean {
  const { slow, fastest = false } = TRAITS[vendor] ?? {};
  if (effort === "whole") return true;
  const has = (letters: string): boolean => letters.split(" ").includes(letter);
  const isUnhurried = unhurried === true || unhurried === mode;
  if (effort === "quick" && (isUnhurried || (long && !fastest))) return false;
  if (effort === "quick" && mode === "tui" && slow && has(slow.unhurried)) return false;
  if (mode === "tui") return slow === undefined || has(slow.inTerminal);
  return effort === "usual" || slow === undefined || has(slow.quick);
}

async function play({ vendor, each, mode }: Job, patient: boolean): Promise<Result> {
  const { letter, title } = each;
  const result: Result = { vendor, letter, title, mode, outcome: "ok", ms: 0, why: "", notes: [] };
  const reason = reasonAgainst({ vendor, each, mode });
  if (reason !== null) return { ...result, outcome: "cannot", why: reason };
  const since = performance.now();
  try {
    result.notes = await onStage({ vendor, each, mode }, patient);
  } catch (error) {
    result.outcome = "failed";
    result.why = whatAndWhere(error);
  }
  result.ms = Math.round(performance.now() - since);
  process.stderr.write(`${vendor} ${letter} ${mode}: ${result.outcome}, ${result.ms} ms\n`);
  return result;
}

async function onStage({ vendor, each, mode }: Job, patient: boolean): Promise<string[]> {
  const setup = await LiveSetup.open(vendor, mode, patient);
  try {
    await each.run(setup);
    return setup.notes;
  } finally {
    await setup.close();
  }
}

/** The stack's lines that are in the cases: the others are the same every time. */
function whatAndWhere(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const where = error.stack?.split("\n").filter((line) => /^ +at .*\/cases\//.test(line)) ?? [];
  return [error.message, ...where].join("\n");
}

function reasonAgainst({ vendor, each, mode }: Job): string | null {
  const traits = TRAITS[vendor];
  const cannot = traits?.cannot ?? {};
  if (!each.modes.includes(mode)) return each.elsewhere ?? `only ${each.modes.join(" and ")}`;
  const against = traits ? (each.against?.(traits) ?? null) : null;
  return cannot[`${each.letter} ${mode}`] ?? cannot[each.letter] ?? against;
}
