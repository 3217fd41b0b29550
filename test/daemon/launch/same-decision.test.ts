import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { DrillResult, SessionRecord } from "../../../src/protocol/records/conversation.ts";
import type { Finished } from "../../support/home.ts";
import type { InstalledPersona } from "../../support/persona.ts";
import { VENDORS } from "../../support/persona-facts.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();
const OTHER_ID = "00000000-0000-4000-8000-000000000000";

type Harm = (file: string, id: string) => void;

const TRANSCRIPT: Readonly<Record<string, Harm>> = {
  good: () => undefined,
  empty: (file) => writeFileSync(file, ""),
  missing: (file) => rmSync(file),
  damaged: (file) => writeFileSync(file, "x".repeat(9_000)),
  changed: (file) => writeFileSync(file, readFileSync(file, "utf8").replace("the secret", "the sEcret")),
  shorter: (file) => writeFileSync(file, shorterBy(readFileSync(file, "utf8"), 1)),
  other: (file, id) => writeFileSync(file, readFileSync(file, "utf8").replaceAll(id, OTHER_ID)),
};
const COPY: Readonly<Record<string, (folder: string) => void>> = {
  kept: () => undefined,
  uncopied: (folder) => rmSync(folder, { recursive: true }),
  miscopied: (folder) => writeFileSync(join(folder, "transcript"), "x"),
};

interface Combination {
  name: string;
  transcript: string;
  copy: string;
  /** The whole config dir is removed, with the transcript. */
  unconfigured: boolean;
}

const COMBINATIONS: Combination[] = Object.keys(COPY).flatMap((copy) => [
  ...Object.keys(TRANSCRIPT).map((transcript) => ({
    name: `${transcript}-${copy}`,
    transcript,
    copy,
    unconfigured: false,
  })),
  { name: `unconfigured-${copy}`, transcript: "missing", copy, unconfigured: true },
]);

describe.each(VENDORS)("%s", (vendor) => {
  it("A6: a start does what the drill said, whatever became of the transcript, its copy and the config dir; offered commands work", async () => {
    const persona = installPersona(vendor);
    const sessions = new Map<string, SessionRecord>();
    for (const { name } of COMBINATIONS) sessions.set(name, await spokenOnce(persona, name));
    await persona.home.perdure(["daemon", "stop"]);
    const copies = copiesByText(persona);
    for (const combination of COMBINATIONS) harm(persona, combination, sessions.get(combination.name), copies);

    const drill = await persona.home.perdure(["drill", "--json"]);
    const { workers } = JSON.parse(drill.stdout) as { workers: DrillResult[] };
    for (const combination of COMBINATIONS) {
      const { name, transcript, copy } = combination;
      const result = workers.find(({ address }) => address === `api/${name}`);
      const ran = await run(persona, name);
      const resumed = ran.code === 0 && /turns=2 first=the s/.test(ran.stdout);
      expect({ name, ok: result?.ok, text: ran.stderr }).toMatchObject({ name, ok: resumed });
      // A copy that is missing or damaged keeps nobody from a good transcript, and an intact one brings back what is lost.
      const isLost = transcript === "missing" || transcript === "empty";
      const isOk = transcript === "good" || (isLost && copy === "kept");
      expect({ name, ok: result?.ok }).toEqual({ name, ok: isOk });
      if (result?.ok) continue;
      expect(ran.code).toBe(5);
      expect(ran.stderr).toContain(result?.reason ?? "no reason");
      expect(ran.stderr).toContain(result?.hint ?? "no hint");
      await offersWhatWorks(persona, name, result?.hint ?? "", sessions.get(name));
    }
  });
});

/** Tries what is not offered, and then what is. */
async function offersWhatWorks(
  persona: InstalledPersona,
  name: string,
  hint: string,
  session: SessionRecord | undefined,
): Promise<void> {
  const words = {
    kept: ["adopt", name, "--kept"],
    asItIs: ["adopt", name, "--vendor", persona.facts.vendor, "--conversation", session?.id ?? ""],
  };
  const offered = { kept: hint.includes("--kept"), asItIs: hint.includes("--conversation") };
  const env = environmentOf(persona, name);
  for (const way of ["asItIs", "kept"] as const) {
    if (offered[way]) continue;
    const { code } = await persona.home.perdure(words[way], { env });
    expect({ name, way, works: code === 0 }).toEqual({ name, way, works: false });
  }
  const way = offered.kept ? "kept" : "asItIs";
  if (!offered[way]) return;
  expect({ name, ...(await persona.home.perdure(words[way], { env })) }).toMatchObject({ name, code: 0 });
  expect({ name, ...(await run(persona, name)) }).toMatchObject({ name, code: 0 });
}

function environmentOf({ home, facts }: InstalledPersona, name: string): NodeJS.ProcessEnv {
  return { ...home.env, [facts.variable]: join(home.dir, `config.${name}`) };
}

function run({ home }: InstalledPersona, name: string, words: string[] = []): Promise<Finished> {
  return home.perdure(["run", name, ...words]);
}

/** One turn, in a config dir and under words of its own, so that its copy is found by its text. */
async function spokenOnce(persona: InstalledPersona, name: string): Promise<SessionRecord> {
  const { home, facts } = persona;
  mkdirSync(join(home.dir, `config.${name}`));
  const words = ["--", facts.program, ...facts.headless(`the secret of ${name}`)];
  const { code, stderr } = await home.perdure(["run", name, ...words], { env: environmentOf(persona, name) });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const { conversation } = await persona.until(name, "to be copied", ({ run: live, conversation: found }) => {
    const { custody = null, transcript = null } = found ?? {};
    return live === null && custody !== null && custody.bytes === transcript?.bytes;
  });
  if (conversation === null) throw new Error(`${name} has no conversation`);
  return conversation;
}

function copiesByText({ home }: InstalledPersona): Map<string, string> {
  const folders = globSync("custody/*", { cwd: home.state }).map((path) => join(home.state, path));
  return new Map(folders.map((folder) => [readFileSync(join(folder, "transcript"), "utf8"), folder]));
}

function harm(
  persona: InstalledPersona,
  { transcript, copy, unconfigured, name }: Combination,
  session: SessionRecord | undefined,
  copies: ReadonlyMap<string, string>,
): void {
  const file = session?.transcript?.file ?? "";
  const folder = copies.get(readFileSync(file, "utf8"));
  COPY[copy]?.(folder ?? "none");
  TRANSCRIPT[transcript]?.(file, session?.id ?? "");
  if (unconfigured) rmSync(join(persona.home.dir, `config.${name}`), { recursive: true });
}

function shorterBy(text: string, lines: number): string {
  return `${text.trimEnd().split("\n").slice(0, -lines).join("\n")}\n`;
}
