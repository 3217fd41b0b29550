import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Plan } from "./23-plan.ts";
import { check, whole } from "./support/check.ts";
import type { Costume } from "./support/costume.ts";

type Harm = Exclude<Plan["harm"], "none">;

/** Harms a stopped worker's transcript, sees that it is refused and nothing begins in its place, and puts it back. */
export async function harm(costume: Costume, name: string, id: string, how: Harm, random: () => number): Promise<void> {
  await costume.settled(name);
  const file = costume.transcript(id);
  check(file !== null, `${name} has no transcript of ${id}`);
  const intact = readFileSync(file);
  HARMS[how](file, intact, random);
  const startsBefore = costume.starts().filter((start) => start.name === name).length;

  const refused = await costume.home.perdure(["run", name]);
  const told = (): string => `${name}, ${how}: ${JSON.stringify(refused)}`;
  check(refused.code === 5 && refused.stdout === "", told);
  check(refused.stderr.includes(id) && refused.stderr.includes("→ "), told);
  const { session, state, run } = await costume.show(name);
  check(
    session?.id === id && run === null && state === "unresumable",
    () => `${told()} ${JSON.stringify(session)} ${state}`,
  );
  const starts = costume.starts().filter((start) => start.name === name);
  check(starts.length === startsBefore, () => `${told()} was started: ${JSON.stringify(starts.at(-1))}`);
  writeFileSync(file, intact);
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
