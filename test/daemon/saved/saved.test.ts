import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SavedRecord } from "../../../src/protocol/records/fleet.ts";
import { expect, it } from "vitest";
import { eventually } from "../../support/check.ts";
import type { InstalledPersona } from "../../support/persona.ts";
import { sessionIdIn, personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

interface SavedFile extends SavedRecord {
  created_at: string;
  agents: Record<string, object>;
}

async function saved(persona: InstalledPersona): Promise<SavedRecord[]> {
  return (await persona.home.json<{ saved: SavedRecord[] }>(["saved"])).saved;
}

function sessionsIn({ workers }: SavedRecord): Record<string, string> {
  return Object.fromEntries(workers.map(({ name, sessionId }) => [name, sessionId]));
}

function withRecords(persona: InstalledPersona, dir: string): string {
  writeFileSync(join(persona.home.project, "perdure.toml"), `[records]\ndir = ${JSON.stringify(dir)}\n`);
  return join(persona.home.project, dir);
}

it("a saved session follows a /clear, another one takes over, and the files say the same", async () => {
  const persona = installPersona("scripted");
  const records = withRecords(persona, ".perdure/records");
  const coder = await persona.begin("coder");
  const planner = await persona.begin("planner");
  await coder.say("one");
  await planner.say("one");
  const first = (await persona.untilProved("coder")).session?.id ?? "";
  const other = (await persona.untilProved("planner")).session?.id ?? "";

  expect(await persona.home.perdure(["save", "friday", "--follow"])).toMatchObject({ code: 0 });
  const second = sessionIdIn(await coder.say("/clear"));
  await persona.until("coder", "to have rotated", ({ session }) => session?.id === second);
  const [friday] = await saved(persona);
  expect(friday).toMatchObject({ name: "friday", active: true });
  expect(friday && sessionsIn(friday)).toEqual({ coder: second, planner: other });

  const file = join(records, "sessions", "friday.json");
  await eventually("the record", () => {
    const { created_at: _created, agents: _agents, ...said } = JSON.parse(readFileSync(file, "utf8")) as SavedFile;
    return JSON.stringify(said) === JSON.stringify(friday);
  });
  const record = JSON.parse(readFileSync(join(records, "coder.session.json"), "utf8")) as Record<string, unknown>;
  const { run, command } = await persona.show("coder");
  expect(record).toEqual({
    agent_id: "coder",
    run: run?.id,
    cli_command: command?.join(" "),
    command,
    session_name: "api/coder",
    session_id: second,
    spawned_at: run?.startedAt,
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);

  expect(await persona.home.perdure(["save", "saturday", "--follow"])).toMatchObject({ code: 0 });
  const third = sessionIdIn(await coder.say("/clear"));
  await persona.until("coder", "to have rotated", ({ session }) => session?.id === third);
  expect((await saved(persona)).map((each) => [each.name, each.active, sessionsIn(each).coder])).toEqual([
    ["friday", false, second],
    ["saturday", true, third],
  ]);
  expect(first).not.toBe(second);

  expect(await persona.home.perdure(["forget", "Friday"])).toMatchObject({ code: 0 });
  await eventually("the record to go", () => !existsSync(file));
  const unknown = await persona.home.perdure(["forget", "saturdy"]);
  expect(unknown).toMatchObject({ code: 3 });
  expect(unknown.stderr).toContain("did you mean saturday?");
});

it("a renamed worker's file goes along, a retired one's goes away, and its entries with it", async () => {
  const persona = installPersona("scripted");
  const records = withRecords(persona, "records");
  await (await persona.begin("coder")).end();
  await (await persona.begin("planner")).end();
  await persona.home.perdure(["save", "friday", "--follow"]);
  await persona.home.perdure(["rename", "coder", "builder"]);
  await eventually("the new name's file", () => existsSync(join(records, "builder.session.json")));
  expect(existsSync(join(records, "coder.session.json"))).toBe(false);
  expect((await saved(persona)).map((each) => Object.keys(sessionsIn(each)))).toEqual([["builder", "planner"]]);
  await persona.home.perdure(["retire", "builder"]);
  await eventually("its file to go", () => !existsSync(join(records, "builder.session.json")));
  expect((await saved(persona)).map((each) => Object.keys(sessionsIn(each)))).toEqual([["planner"]]);
});

it.each(["link/out", "nest"])("a project's file cannot lead the daemon out of the project: %s", async (dir) => {
  const persona = installPersona("scripted");
  symlinkSync(persona.home.dir, join(persona.home.project, "link"));
  mkdirSync(join(persona.home.project, "nest"));
  symlinkSync(persona.home.dir, join(persona.home.project, "nest", "sessions"));
  writeFileSync(join(persona.home.project, "perdure.toml"), `[records]\ndir = ${JSON.stringify(dir)}\n`);
  await (await persona.begin("coder")).end();
  const { stderr } = await persona.home.perdure(["save", "friday", "--follow"]);
  expect(stderr).toMatch(/no records are written: .* leads outside the project, to /);
  await persona.home.perdure(["daemon", "stop"]);
  for (const place of ["out", "api/link/out", "api/nest"])
    expect(existsSync(join(persona.home.dir, place, "coder.session.json"))).toBe(false);
  expect(existsSync(join(persona.home.dir, "friday.json"))).toBe(false);
});

it.each(["../outside", "/tmp", "", "a/../../b"])(
  "a folder that is not in the project is told with its line: %j",
  async (dir) => {
    const { home } = installPersona("scripted");
    writeFileSync(join(home.project, "perdure.toml"), `[records]\ndir = ${JSON.stringify(dir)}\n`);
    const { code, stderr } = await home.perdure(["run", "coder", "--", "true"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/perdure\.toml:2: records\.dir .*a folder inside the project/);
  },
);

it("a name is a snapshot unless it is to follow, and the command says which", async () => {
  const persona = installPersona("scripted");
  const coder = await persona.begin("coder");
  await coder.say("one");
  const first = (await persona.untilProved("coder")).session?.id ?? "";
  const snapshot = await persona.home.perdure(["save", "monday"]);
  expect(snapshot.stdout).toBe("monday: 1 worker, a snapshot of now\n");
  expect(snapshot.stderr).toContain("perdure save monday --follow");
  const followed = await persona.home.perdure(["save", "friday", "--follow"]);
  expect(followed.stdout).toBe("friday: 1 worker, kept current\n");
  const second = sessionIdIn(await coder.say("/clear"));
  await persona.until("coder", "to have rotated", ({ session }) => session?.id === second);
  // A snapshot leaves the one that is kept current as it is.
  await persona.home.perdure(["save", "tuesday"]);
  expect((await saved(persona)).map((each) => [each.name, each.active, sessionsIn(each).coder])).toEqual([
    ["friday", true, second],
    ["monday", false, first],
    ["tuesday", false, second],
  ]);
  // Without a name the one that is kept current is meant.
  expect((await persona.home.perdure(["save"])).stdout).toBe("friday: 1 worker, kept current\n");
});

it("nothing to save is said, and a bad name is refused", async () => {
  const persona = installPersona("scripted");
  expect(await persona.home.perdure(["save", "friday", "--follow"])).toMatchObject({ code: 3 });
  await (await persona.begin("coder")).end();
  expect(await persona.home.perdure(["save"])).toMatchObject({ code: 2 });
  expect(await persona.home.perdure(["save", "../x"])).toMatchObject({ code: 2 });
});
