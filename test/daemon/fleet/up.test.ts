import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { UpItem } from "../../../src/protocol/records/fleet.ts";
import { byName, fleetHome, type FleetHome } from "../../support/fleet-home.ts";

const SIX = `
project = "api"
[defaults]
vendor = "scripted"
[workers.planner]
prompt = "planner.md"
[workers.coder]
count = 2
group = "pair"
[workers.tester]
worktree = true
[workers.reviewer]
[workers.writer]
restart = "always"
`;
const NAMES = ["coder-1", "coder-2", "planner", "reviewer", "tester", "writer"];

function sixWorkers(env: Record<string, string> = {}): FleetHome {
  const fleet = fleetHome(SIX, env);
  writeFileSync(join(fleet.project, "planner.md"), "You are {{name}} of {{project}}; the others are {{peers}}.\n");
  fleet.git(["init", "-q"]);
  fleet.git(["commit", "-q", "--allow-empty", "-m", "first"]);
  return fleet;
}

async function conversations(fleet: FleetHome): Promise<Record<string, string | undefined>> {
  const workers = await fleet.untilIdle();
  return Object.fromEntries(workers.map(({ name, session }) => [name, session?.id]));
}

it("up, up again, everything killed, up: same names, same conversations, one run more, nothing twice", async () => {
  const fleet = sixWorkers();
  const first = await fleet.up();
  expect(first).toMatchObject({ started: 6, running: 0, refused: 0 });
  const before = await conversations(fleet);
  expect(Object.keys(before).toSorted()).toEqual(NAMES);
  for (const name of NAMES) await fleet.type(name, `I am ${name}`);
  for (const name of NAMES) await fleet.untilHeard(name, `I am ${name}`);
  const runs = byName(await fleet.workers());

  const again = await fleet.up();
  expect(again).toMatchObject({ started: 0, running: 6, refused: 0 });
  expect(byName(await fleet.workers())).toEqual(
    Object.fromEntries(NAMES.map((name) => [name, expect.objectContaining({ run: runs[name]?.run, generation: 1 })])),
  );

  const kinds = (): string[] =>
    fleet
      .processes()
      .map(({ command }) => command)
      .toSorted();
  const lively = kinds();
  await fleet.killEverything();
  expect(await fleet.up()).toMatchObject({ started: 6, running: 0, refused: 0 });
  expect(await conversations(fleet)).toEqual(before);
  for (const worker of await fleet.workers()) expect(worker).toMatchObject({ generation: 2, mode: "tmux" });
  for (const name of NAMES) {
    expect(await fleet.transcript(name)).toContain(`I am ${name}`);
  }
  // The first prompt was the first turn of a new conversation, and of nothing else.
  const prompts = (await fleet.transcript("planner")).match(
    /"type":"user","text":"You are planner of api; the others are [^"]*coder-1/g,
  );
  expect(prompts?.length).toBe(1);
  expect(kinds()).toEqual(lively);

  await fleet.down();
  await fleet.perdure(["daemon", "stop"]);
  expect(fleet.processes()).toEqual([]);
});

it("after a reboot the fleet waits for up, and all of it is resumed", async () => {
  const boot = join("/tmp", `perdure-boot-${process.pid}`);
  writeFileSync(boot, "11111111-1111-1111-1111-111111111111\n");
  const fleet = sixWorkers({ PERDURE_BOOT_ID_FILE: boot });
  await fleet.up();
  const before = await conversations(fleet);
  await fleet.say("coder-1", "before the reboot");

  await fleet.killEverything();
  writeFileSync(boot, "22222222-2222-2222-2222-222222222222\n");
  const looked = byName(await fleet.workers());
  expect(looked["coder-1"]).toMatchObject({ state: "stopped", lastEnd: { reason: "rebooted" } });
  expect(await fleet.up()).toMatchObject({ started: 6, running: 0, refused: 0 });
  expect(await conversations(fleet)).toEqual(before);
  expect(await fleet.transcript("coder-1")).toContain("before the reboot");
});

it("C3: workers of turns are told apart from those that were started", async () => {
  const turn = '[workers.reviewer]\nvendor = "scripted"\nmode = "turn"\n';
  const fleet = fleetHome(turn);
  const alone = await fleet.perdure(["up", "--yes"]);
  expect(alone).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("asleep; each message starts it for a turn") as string,
  });
  expect(alone.stdout).toContain("0 started");
  fleet.write(`${turn}[workers.coder]\nvendor = "scripted"\n`);
  expect(await fleet.up()).toMatchObject({ started: 1, asleep: 1 });
  fleet.write('[workers.build]\ncommand = ["sleep", "60"]\nmode = "turn"\n');
  expect(await fleet.perdure(["up", "--yes"])).toMatchObject({ code: 2 });
});

it("a daemon that was started for the fleet brings it back by itself after a reboot", async () => {
  const boot = join("/tmp", `perdure-service-boot-${process.pid}`);
  writeFileSync(boot, "11111111-1111-1111-1111-111111111111\n");
  const fleet = sixWorkers({ PERDURE_BOOT_ID_FILE: boot });
  await fleet.up();
  const before = await conversations(fleet);
  await fleet.perdure(["stop", "writer"]);
  await fleet.killEverything();
  writeFileSync(boot, "22222222-2222-2222-2222-222222222222\n");
  await fleet.service();
  await fleet.until("tester", ({ state, generation }) => state === "idle" && generation === 2);
  await fleet.until("coder-2", ({ state, generation }) => state === "idle" && generation === 2);
  const now = byName(await fleet.workers());
  expect(now.writer).toMatchObject({ state: "stopped", generation: 1 });
  expect(now["coder-2"]?.session?.id).toBe(before["coder-2"]);
});

it("up leaves running workers alone when the fleet file changed, and says who still runs the old entry", async () => {
  const entries = (a: string, b = ""): string =>
    `[workers.a]\nvendor = "scripted"\n${a}\n[workers.b]\ncommand = ["sleep", "${b || 60}"]\n`;
  const fleet = fleetHome(entries(""));
  await fleet.up();
  await fleet.until("a", ({ state, session }) => state === "idle" && session?.proved === true);
  const before = byName(await fleet.workers());
  const told = async (): Promise<Record<string, UpItem>> => byName((await fleet.up()).workers);

  fleet.write(entries('args = ["--model", "other"]', "61"));
  const again = "perdure stop a && perdure up a";
  for (let twice = 0; twice < 2; twice += 1) {
    expect(await told()).toMatchObject({
      a: { outcome: "running", reason: "as perdure.toml described it before", hint: again },
      b: { outcome: "running", hint: "perdure stop b && perdure up b" },
    });
  }
  fleet.write(entries('args = ["--resume", "x"]'));
  expect(await told()).toMatchObject({
    a: { outcome: "running", reason: expect.stringContaining("cannot be started with --resume") },
    b: { outcome: "running", reason: null, hint: null },
  });
  fleet.write(entries("").replace('vendor = "scripted"', 'vendor = "claude"'));
  expect(await told()).toMatchObject({ a: { hint: `${again} --fresh` } });
  fleet.write(entries(""));
  expect(await told()).toMatchObject({ a: { reason: null, hint: null } });
  expect((await fleet.show("a")).command).not.toContain("other");
  expect(byName(await fleet.workers())).toMatchObject({ a: { run: before.a?.run }, b: { run: before.b?.run } });

  fleet.write(entries('args = ["--model", "other"]'));
  await fleet.perdure(["stop", "a"]);
  expect(await told()).toMatchObject({ a: { outcome: "started", reason: null } });
  expect((await fleet.show("a")).command).toContain("other");
});

it("a vendor that does not exist is told by its line, and the others come up", async () => {
  const fleet = fleetHome(`[workers.a]\nvendor = "scripted"\n[workers.b]\nvendor = "skripted"\n`);
  const told = { reason: expect.stringMatching(/perdure\.toml:4: workers\.b: there is no vendor "skripted"/) };
  const { workers, started } = await fleet.up();
  expect([started, byName(workers).b]).toMatchObject([1, { ...told, hint: "did you mean scripted?" }]);
  const { findings } = await fleet.json<{ findings: { check: string; message: string }[] }>(["doctor"]);
  expect(findings.find(({ check }) => check === "fleet")?.message).toMatch(/:4: workers\.b/);
});

it("a file that was broken since keeps nobody from looking and stopping; what would use it is refused", async () => {
  const fleet = fleetHome(`project = "shop"\n[workers.a]\nvendor = "scripted"\n`);
  await fleet.up();
  await fleet.until("a", ({ state }) => state === "idle");
  fleet.write(`project = "shop"\n[workers.a]\nvendor = "scripted"\noops\n`);
  const told = expect.stringMatching(/perdure\.toml:4: [^]*the file was ignored/);
  for (const verb of [["ls"], ["show", "a"], ["logs", "a"], ["history", "a"], ["events"], [], ["send", "a", "hello"]]) {
    expect(await fleet.perdure(verb)).toMatchObject({ code: 0, stderr: told });
  }
  expect(await fleet.json(["show", "a"])).toMatchObject({ address: "shop/a", unread: 1 });
  expect(await fleet.perdure(["show", "nobody"])).toMatchObject({ code: 3, stderr: expect.stringContaining("nobody") });
  for (const verb of [["up"], ["trust"], ["run", "a"], ["project"]]) {
    expect(await fleet.perdure(verb)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(":4: "),
    });
  }
  expect(await fleet.perdure(["stop", "a"])).toMatchObject({ code: 0, stderr: told });
  expect((await fleet.down()).workers).toEqual([]);
});

it("a file that was always broken gives its project no name by accident, and stops nothing it could not start", async () => {
  const fleet = fleetHome(`project = "shop"\noops\n`);
  for (const verb of [["inbox"], ["pending"], ["send", "operator", "hello"], ["up"]]) {
    expect(await fleet.perdure(verb)).toMatchObject({ code: 2, stderr: expect.stringContaining("perdure.toml:2: ") });
  }
  expect(await fleet.json(["project", "ls"])).toMatchObject({ projects: [] });
  fleet.write(`project = "shop"\n`);
  const { worker } = await fleet.start("solo", ["sleep", "60"]);
  expect(worker.address).toBe("shop/solo");
  fleet.write("oops\n");
  expect(await fleet.perdure(["restart", "solo"])).toMatchObject({ code: 2 });
  expect((await fleet.show("solo")).run).toEqual(worker.run);
});

it("a conversation stays in its folder: another cwd is told, and taken with --fresh", async () => {
  const entry = (more: string): string => `[workers.a]\nvendor = "scripted"\n${more}\n`;
  const fleet = fleetHome(entry(""));
  mkdirSync(join(fleet.project, "sub"));
  await fleet.up();
  await fleet.until("a", ({ state }) => state === "idle");
  await fleet.say("a", "begun here");
  fleet.write(entry('cwd = "sub"'));
  expect((await fleet.up()).workers).toMatchObject([{ outcome: "running", hint: "perdure stop a && perdure up a" }]);
  await fleet.perdure(["stop", "a"]);
  const started = await fleet.perdure(["up"]);
  expect(started.stderr).toMatch(
    /its conversation continues in .*\/api\n.*→ perdure restart a --fresh begins one in .*\/api\/sub\n/,
  );
  expect(await fleet.transcript("a")).toContain("begun here");
  await fleet.perdure(["restart", "a", "--fresh"]);
  expect((await fleet.show("a")).conversation?.launchCwd).toBe(join(fleet.project, "sub"));
});

it("--fresh leaves those that run where they are, and says how to begin anew", async () => {
  const fleet = fleetHome(`[workers.a]\nvendor = "scripted"\n`);
  await fleet.up();
  const again = async (): Promise<UpItem | undefined> => (await fleet.up("--fresh")).workers[0];
  expect(await again()).toMatchObject({ outcome: "running", hint: "perdure restart a --fresh" });
  fleet.write(`[workers.a]\nvendor = "scripted"\nargs = ["--model", "m"]\n`);
  expect(await again()).toMatchObject({ outcome: "running", hint: "perdure stop a && perdure up a --fresh" });
});
