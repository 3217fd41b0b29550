import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { SavedRecord } from "../../../src/protocol/records/fleet.ts";
import { eventually } from "../../campaigns/support/check.ts";
import type { Costume } from "../../campaigns/support/costume.ts";
import { idIn, scenes } from "../conversations/scene.ts";

const scene = scenes();

async function saved(costume: Costume): Promise<SavedRecord[]> {
  return (await costume.home.json<{ saved: SavedRecord[] }>(["saved"])).saved;
}

function sessionsIn({ workers }: SavedRecord): Record<string, string> {
  return Object.fromEntries(workers.map(({ name, sessionId }) => [name, sessionId]));
}

function withRecords(costume: Costume, dir: string): string {
  writeFileSync(join(costume.home.project, "perdure.toml"), `[records]\ndir = ${JSON.stringify(dir)}\n`);
  return join(costume.home.project, dir);
}

it("a saved session follows a /clear, another one takes over, and the files say the same", async () => {
  const costume = scene("scripted");
  const records = withRecords(costume, ".perdure/records");
  const coder = await costume.begin("coder");
  const planner = await costume.begin("planner");
  await coder.say("one");
  await planner.say("one");
  const first = (await costume.proved("coder")).session?.id ?? "";
  const other = (await costume.proved("planner")).session?.id ?? "";

  expect(await costume.home.perdure(["save", "friday"])).toMatchObject({ code: 0 });
  const second = idIn(await coder.say("/clear"));
  await costume.until("coder", "to have rotated", ({ session }) => session?.id === second);
  const [friday] = await saved(costume);
  expect(friday).toMatchObject({ name: "friday", active: true });
  expect(friday && sessionsIn(friday)).toEqual({ coder: second, planner: other });

  const file = join(records, "sessions", "friday.json");
  await eventually(
    "the record",
    () => JSON.stringify(JSON.parse(readFileSync(file, "utf8"))) === JSON.stringify(friday),
  );
  const record = JSON.parse(readFileSync(join(records, "coder.session.json"), "utf8")) as Record<string, unknown>;
  const { run, command } = await costume.show("coder");
  expect(record).toEqual({
    agent_id: run?.id,
    cli_command: command,
    session_name: "api/coder",
    session_id: second,
    spawned_at: run?.startedAt,
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);

  expect(await costume.home.perdure(["save", "saturday"])).toMatchObject({ code: 0 });
  const third = idIn(await coder.say("/clear"));
  await costume.until("coder", "to have rotated", ({ session }) => session?.id === third);
  expect((await saved(costume)).map((each) => [each.name, each.active, sessionsIn(each).coder])).toEqual([
    ["friday", false, second],
    ["saturday", true, third],
  ]);
  expect(first).not.toBe(second);

  expect(await costume.home.perdure(["forget", "Friday"])).toMatchObject({ code: 0 });
  await eventually("the record to go", () => !existsSync(file));
  const unknown = await costume.home.perdure(["forget", "saturdy"]);
  expect(unknown).toMatchObject({ code: 3 });
  expect(unknown.stderr).toContain("did you mean saturday?");
});

it("a renamed worker's file goes along, a retired one's goes away, and its entries with it", async () => {
  const costume = scene("scripted");
  const records = withRecords(costume, "records");
  await (await costume.begin("coder")).end();
  await (await costume.begin("planner")).end();
  await costume.home.perdure(["save", "friday"]);
  await costume.home.perdure(["rename", "coder", "builder"]);
  await eventually("the new name's file", () => existsSync(join(records, "builder.session.json")));
  expect(existsSync(join(records, "coder.session.json"))).toBe(false);
  expect((await saved(costume)).map((each) => Object.keys(sessionsIn(each)))).toEqual([["builder", "planner"]]);
  await costume.home.perdure(["retire", "builder"]);
  await eventually("its file to go", () => !existsSync(join(records, "builder.session.json")));
  expect((await saved(costume)).map((each) => Object.keys(sessionsIn(each)))).toEqual([["planner"]]);
});

it.each(["../outside", "link/out", "/tmp", "nest"])(
  "a project's file cannot lead the daemon out of the project: %s",
  async (dir) => {
    const costume = scene("scripted");
    symlinkSync(costume.home.dir, join(costume.home.project, "link"));
    mkdirSync(join(costume.home.project, "nest"));
    symlinkSync(costume.home.dir, join(costume.home.project, "nest", "sessions"));
    writeFileSync(join(costume.home.project, "perdure.toml"), `[records]\ndir = ${JSON.stringify(dir)}\n`);
    await (await costume.begin("coder")).end();
    await costume.home.perdure(["save", "friday"]);
    await costume.home.perdure(["daemon", "stop"]);
    for (const place of ["outside", "out", "api/link/out"])
      expect(existsSync(join(costume.home.dir, place, "coder.session.json"))).toBe(false);
    expect(existsSync("/tmp/coder.session.json")).toBe(false);
    expect(existsSync(join(costume.home.dir, "friday.json"))).toBe(false);
    expect(existsSync(join(costume.home.dir, "friday.json"))).toBe(false);
  },
);

it("nothing to save is said, and a bad name is refused", async () => {
  const costume = scene("scripted");
  expect(await costume.home.perdure(["save", "friday"])).toMatchObject({ code: 3 });
  await (await costume.begin("coder")).end();
  expect(await costume.home.perdure(["save"])).toMatchObject({ code: 2 });
  expect(await costume.home.perdure(["save", "../x"])).toMatchObject({ code: 2 });
});
