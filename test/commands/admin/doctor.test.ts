import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import type { InstalledPersona } from "../../support/persona.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

interface Finding {
  check: string;
  level: string;
  message: string;
  fix: string | null;
}

async function findings(persona: InstalledPersona, check: string): Promise<Finding[]> {
  const { findings: all } = await persona.home.json<{ findings: Finding[] }>(["doctor"]);
  return all.filter((each) => each.check === check);
}

it("warns of a vendor's own clean-up that is near, and more loudly when no copy is kept", async () => {
  const persona = installPersona("claude");
  const talk = await persona.begin("coder");
  await talk.say("the secret");
  const { id = "" } = (await persona.untilProved("coder")).session ?? {};
  await talk.end();
  await persona.until("coder", "to be copied", ({ conversation }) => {
    return conversation?.custody?.bytes === conversation?.transcript?.bytes;
  });
  expect(await findings(persona, "coder")).toEqual([]);

  const file = persona.transcript(id) ?? "";
  const old = new Date(Date.now() - 26 * 24 * 3_600_000);
  utimesSync(file, old, old);
  expect(await findings(persona, "coder")).toMatchObject([
    {
      level: "note",
      message: expect.stringMatching(/claude deletes its conversation in [34] days.*a copy is kept/) as string,
    },
  ]);

  writeFileSync(join(persona.configDir, "settings.json"), JSON.stringify({ cleanupPeriodDays: 99_999 }));
  expect(await findings(persona, "coder")).toEqual([]);
  writeFileSync(join(persona.configDir, "settings.json"), "{}");

  await persona.home.perdure(["daemon", "stop"]);
  const database = new DatabaseSync(join(persona.home.state, "perdure.db"));
  database.exec("DELETE FROM custody");
  database.close();
  expect(await findings(persona, "coder")).toMatchObject([{ level: "bad", fix: "perdure run coder" }]);
  expect((await persona.home.perdure(["doctor"])).code).toBe(5);
});

it("tells a vendor's version by where it lies, beside those that were tried, and what is unproved", async () => {
  const persona = installPersona("scripted");
  const bin = join(persona.home.dir, "bin");
  const install = (program: string, version: string): void => {
    const folder = join(persona.home.dir, "node_modules", program);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: program, version }));
    writeFileSync(join(folder, "main.js"), "", { mode: 0o755 });
    symlinkSync(join(folder, "main.js"), join(bin, program));
  };
  install("claude", "2.1.325");
  install("codex", "0.999.0-linux-x64");
  install("cursor-agent", "1.2.3");
  expect(await findings(persona, "claude")).toMatchObject([
    { level: "ok", message: expect.stringContaining("2.1.325, known to work") as string },
  ]);
  expect(await findings(persona, "codex")).toMatchObject([
    { level: "note", message: expect.stringContaining("0.999.0; perdure was tested with 0.166.0") as string },
  ]);
  expect(await findings(persona, "cursor")).toMatchObject([
    { level: "note", message: expect.stringContaining("unproved: ") as string },
  ]);
});

it("tells whose fleet it is, and what is wrong with it, before anything is started", async () => {
  const persona = installPersona("claude");
  expect(await findings(persona, "fleet")).toEqual([]);
  const file = join(persona.home.project, "perdure.toml");
  writeFileSync(file, '[workers.coder]\nvendor = "claude"\ncount = 2\n');
  expect(await findings(persona, "fleet")).toMatchObject([{ level: "ok", message: "coder-1, coder-2 (perdure.toml)" }]);
  writeFileSync(file, '[workers.coder]\nvendor = "claude"\nprompt = "none.md"\n');
  expect(await findings(persona, "fleet")).toMatchObject([
    { level: "bad", message: 'perdure.toml:3: workers.coder.prompt "none.md" does not exist.' },
  ]);
});
