// The promises about conversations, kept with the vendors' real programs against a model on loopback:
//   npm run test:vendors -- [--all | --quick] [--vendor claude,codex] [--case a,e]
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { isIsolated, isolated } from "./harness/namespace.ts";
import { binFolder, type VendorName } from "./harness/pins.ts";
import { CASES } from "./cases/index.ts";
import { asOtherUser, OTHER_UID } from "./other-user.ts";
import { runCases, type Result } from "./run-cases.ts";
import { count, tableOf } from "./table.ts";
import { TRAITS } from "./traits.ts";

const OPTIONS = {
  all: { type: "boolean" },
  /** Only a few cases of programs that are slow to start: the run for every change. */
  quick: { type: "boolean" },
  vendor: { type: "string", multiple: true },
  case: { type: "string", multiple: true },
  /** The results as one document: for the pass of another user. */
  json: { type: "boolean" },
} as const;

/** The command line asks for something that cannot be run. */
class Unusable extends Error {}

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Unusable ? `test:vendors: ${error.message}` : error);
  return 2;
});

async function main(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS });
  const known = Object.keys(TRAITS) as VendorName[];
  const vendors = chosen("vendor", values.vendor, known, (name) => name);
  const selected = chosen("case", values.case, CASES, ({ letter }) => letter);
  const cases = values.all || values.case ? selected : selected.filter(({ core }) => core);
  const missing = vendors.filter((name) => !existsSync(binFolder(name)));
  if (missing.length > 0) throw new Unusable(`not installed: node scripts/vendors.js ${missing.join(" ")}`);
  if (!isIsolated()) return isolated([process.execPath, import.meta.filename, ...process.argv.slice(2)]);

  const effort = values.all || values.case ? "whole" : values.quick ? "quick" : "usual";
  const results = await runCases(vendors, cases, { patient: values.all ?? false, effort });
  if (values.json) {
    process.stdout.write(JSON.stringify(results));
    return 0;
  }
  console.log(tableOf(`uid ${process.getuid?.()}`, results));
  if (values.all) results.push(...(await again(vendors)));
  console.log(`\n${count(results, "ok")} passed, ${count(results, "failed")} failed`);
  return count(results, "failed") > 0 || count(results, "ok") === 0 ? 1 : 0;
}

async function again(vendors: readonly VendorName[]): Promise<Result[]> {
  const results = await asOtherUser(vendors, import.meta.filename, process.argv.slice(2));
  if (typeof results === "string") {
    console.log(`\nnot once more as another user: ${results}`);
    return [];
  }
  console.log(`\n${tableOf(`uid ${OTHER_UID}`, results)}`);
  return results;
}

/** The names of an option, `a,b` or one by one; all when none was given. */
function chosen<T>(
  what: string,
  words: readonly string[] | undefined,
  all: readonly T[],
  nameOf: (each: T) => string,
): T[] {
  const names = (words ?? []).flatMap((word) => word.split(","));
  const unknown = names.filter((name) => !all.some((each) => nameOf(each) === name));
  if (unknown.length > 0)
    throw new Unusable(`no ${what} ${unknown.join(", ")}; there are ${all.map(nameOf).join(", ")}`);
  return names.length === 0 ? [...all] : all.filter((each) => names.includes(nameOf(each)));
}
