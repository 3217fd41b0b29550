import { globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Plan } from "./23-plan.ts";
import { check, whole } from "../support/check.ts";
import type { InstalledPersona } from "../support/persona.ts";

type Harm = Exclude<Plan["harm"], "none">;

/**
 * Harms a stopped worker's transcript. What the vendor lost comes back from the copy that is kept, which the next start
 * shows (false); without a copy, and with any other harm, it is refused, nothing begins in its place, and it is put back (true).
 */
export async function damageTranscript(
  persona: InstalledPersona,
  name: string,
  id: string,
  how: Harm,
  random: () => number,
): Promise<boolean> {
  await persona.untilEndRecorded(name);
  const file = persona.transcript(id);
  check(file !== null, `${name} has no transcript of ${id}`);
  const intact = readFileSync(file);
  const copy = await copyOf(persona, name, intact);
  HARMS[how](file, intact, random);
  const isLost = how === "deleted" || how === "emptied";
  if (isLost && random() < 0.5) return false;
  // Cut so short that nothing said is left, it is as good as empty: then, too, only without a copy it is refused.
  renameSync(copy, `${copy}.away`);
  const startsBefore = persona.starts().filter((start) => start.name === name).length;

  const refused = await persona.home.perdure(["run", name]);
  const told = (): string => `${name}, ${how}: ${JSON.stringify(refused)}`;
  check(refused.code === 5 && refused.stdout === "", told);
  check(refused.stderr.includes(id) && refused.stderr.includes("→ "), told);
  const { session, state, run } = await persona.show(name);
  check(
    session?.id === id && run === null && state === "unresumable",
    () => `${told()} ${JSON.stringify(session)} ${state}`,
  );
  const starts = persona.starts().filter((start) => start.name === name);
  check(starts.length === startsBefore, () => `${told()} was started: ${JSON.stringify(starts.at(-1))}`);
  writeFileSync(file, intact);
  renameSync(`${copy}.away`, copy);
  return true;
}

/** The copy that is kept of it, as soon as it is whole. */
async function copyOf(persona: InstalledPersona, name: string, intact: Buffer): Promise<string> {
  await persona.until(name, "to be copied", ({ conversation }) => conversation?.custody?.bytes === intact.length);
  const copies = globSync("custody/*/transcript", { cwd: persona.home.state });
  const copy = copies.map((path) => join(persona.home.state, path)).find((path) => readFileSync(path).equals(intact));
  check(copy !== undefined, `no copy is kept of what ${name} said`);
  return copy;
}

const HARMS: Readonly<Record<Harm, (file: string, bytes: Buffer, random: () => number) => void>> = {
  emptied: (file) => writeFileSync(file, ""),
  // Letters only: no line of it is anything.
  garbled: (file, bytes, random) =>
    writeFileSync(
      file,
      bytes.map(() => 97 + whole(random, 26)),
    ),
  "cut short": (file, bytes, random) => writeFileSync(file, bytes.subarray(0, 1 + whole(random, bytes.length - 1))),
  deleted: (file) => rmSync(file),
};
