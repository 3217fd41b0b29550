import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { WorkerSummary } from "../../src/protocol/records/worker.ts";
import { adapterOf } from "../../src/vendors/index.ts";
import type { PlanRequest } from "../../src/vendors/launch-plan.ts";
import { eventually } from "../support/check.ts";
import { byName, FleetHome } from "../support/fleet-home.ts";

// The seed: a fleet in tmux whose sessions persist in files. Each test's name is what the seed says, in its words. The tests share one
// fleet and go on from each other: `perdure.toml` says where the files lie, and who is in the group.

const RUNTIME = ".orchestrator/runtime";
const TOML = `[defaults]
vendor = "scripted"
[workers.planner]
[workers.coder]
count = 2
group = "pair"
[records]
dir = "${RUNTIME}"
[mail]
drop_dir = "${RUNTIME}/messages"
`;

let fleet: FleetHome;
let first: Record<string, WorkerSummary>;
beforeAll(() => {
  fleet = new FleetHome(TOML);
});
afterAll(() => fleet.clear());

type Json = Readonly<Record<string, unknown>>;

function read(name: string): Json {
  return JSON.parse(readFileSync(join(fleet.project, RUNTIME, name), "utf8")) as Json;
}

async function untilRecorded(name: string, holds: (record: Json) => boolean): Promise<Json> {
  await eventually(
    `${name} to be as wanted`,
    () => existsSync(join(fleet.project, RUNTIME, name)) && holds(read(name)),
  );
  return read(name);
}

function idOf(worker: WorkerSummary | undefined): string {
  return worker?.session?.id ?? "";
}

test("--session <name>: name this run; saves the session file after startup", async () => {
  expect(await fleet.up("--session", "friday")).toMatchObject({ started: 3, session: "friday" });
  first = byName(await fleet.untilIdle());
  for (const name of ["planner", "coder-1", "coder-2"]) await fleet.say(name, `I am ${name}`);
  await untilRecorded("sessions/friday.json", ({ agents }) => Object.keys(agents as Json).length === 3);
});

test("each agent now records a {agent_id}.session.json file when spawned; both spawn paths (standalone and worker-group) write the file", async () => {
  for (const name of ["planner", "coder-1", "coder-2"]) {
    const id = idOf(first[name]);
    const record = await untilRecorded(`${name}.session.json`, ({ session_id: now }) => now === id);
    expect(record).toMatchObject({
      agent_id: name,
      cli_command: expect.stringMatching(/perdure-scripted/) as string,
      session_name: `api/${name}`,
      spawned_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
    });
  }
});

test("session_id (null for now; populated later when extraction is wired up): null only where there is no conversation", async () => {
  await fleet.perdure(["run", "plain", "--", "true"]);
  const record = await untilRecorded("plain.session.json", ({ spawned_at: at }) => at !== null);
  expect(record).toMatchObject({ agent_id: "plain", cli_command: "true", session_id: null });
  expect(await fleet.perdure(["retire", "plain"])).toMatchObject({ code: 0 });
});

test("AgentState gains session_name and session_id fields (serialized to state.json)", async () => {
  const workers = byName(await fleet.workers());
  expect(workers["coder-2"]).toMatchObject({ address: "api/coder-2", session: { id: idOf(first["coder-2"]) } });
});

test("a master record (runtime/sessions/<name>.json) maps a single human-readable name to every agent's vendor session ID", () => {
  const { name, created_at: created, agents } = read("sessions/friday.json");
  expect(name).toBe("friday");
  expect(created).toMatch(/^\d{4}-/);
  for (const worker of ["planner", "coder-1", "coder-2"]) {
    const {
      session_name: address,
      session_id: id,
      cli_command: command,
    } = (agents as Record<string, Json>)[worker] ?? {};
    expect([address, id]).toEqual([`api/${worker}`, idOf(first[worker])]);
    expect(command).toContain("perdure-scripted");
  }
});

test("--resume <name>: load a saved session; each agent starts with its vendor resume flag restoring prior context", async () => {
  await fleet.killEverything();
  const { workers, ...result } = await fleet.up("--resume", "friday");
  expect(result).toMatchObject({ started: 3, refused: 0, session: "friday" });
  expect(workers.map(({ session }) => session?.step)).toEqual(["resume", "resume", "resume"]);
  const now = byName(await fleet.untilIdle());
  for (const name of Object.keys(first)) {
    expect(idOf(now[name])).toBe(idOf(first[name]));
    expect(await fleet.transcript(name)).toContain(`I am ${name}`);
  }
});

test("session_name (tmux session name, stable across restarts), agent_id and cli_command (for resume flag selection)", async () => {
  const before = read("planner.session.json");
  await fleet.perdure(["restart", "planner"]);
  const after = await untilRecorded("planner.session.json", ({ run }) => run !== before.run);
  for (const field of ["agent_id", "cli_command", "session_name", "session_id"])
    expect(after[field]).toEqual(before[field]);
});

test("improved error handling in session loading and saving", async () => {
  const unknown = await fleet.perdure(["up", "--resume", "firday", "--yes"]);
  expect(unknown).toMatchObject({ code: 3, stderr: expect.stringContaining("did you mean friday?") as string });
  // What the file no longer has is told, and not lost in silence.
  fleet.write(TOML.replace("[workers.planner]\n", ""));
  const { stderr } = await fleet.perdure(["up", "--resume", "friday", "--yes"]);
  expect(stderr).toContain("planner  is saved in friday, and not in perdure.toml");
  // So is a folder for the records that is none.
  fleet.write(TOML.replace(`dir = "${RUNTIME}"`, 'dir = "perdure.toml"'));
  expect((await fleet.perdure(["up", "--yes"])).stderr).toMatch(
    /no records are written: .*perdure\.toml is not a folder/,
  );
  fleet.write(TOML);
  await fleet.up();
});

test("file inboxes: a message file in to_<agent>/ is told to the agent, and goes to processed/, or to dead_letter/", async () => {
  const messages = join(fleet.project, RUNTIME, "messages");
  for (const [agent, text] of [
    ["coder-1", "please look at main.rs"],
    ["slack", "nobody is called that"],
  ] as const) {
    mkdirSync(join(messages, `to_${agent}`), { recursive: true });
    writeFileSync(join(messages, `to_${agent}`, `1__from-planner__to-${agent}__topic-review.md`), text);
  }
  const moved = (place: string, agent: string): boolean =>
    existsSync(join(messages, place, `1__from-planner__to-${agent}__topic-review.md`));
  await eventually("both to be moved", () => moved("processed", "coder-1") && moved("dead_letter", "slack"));
  const { messages: mail } = await fleet.json<{ messages: { body: string }[] }>(["mail", "--state", "all"]);
  expect(mail.map(({ body }) => body)).toEqual(["please look at main.rs"]);
});

const REQUEST = {
  session: "0198c0de-0000-7000-8000-000000000001",
  name: "coder",
  args: [],
  prompt: null,
  transcript: "/home/u/t",
  runDir: "/run/x",
  cwd: "/",
  configDir: "/home/u/.v",
  from: null,
  declared: null,
};

test.each([
  ["claude", /^--resume \S+/],
  ["gemini", /--resume \S+/],
  ["codex", /\bresume \S+/],
  ["copilot", /--resume[= ]\S+/],
  ["cursor", /--resume[= ]\S+/],
])(
  "how each vendor is handled: %s has its own resume flag, with the id of exactly this conversation",
  (vendor, flag) => {
    const resumed = words(vendor, { ...REQUEST, step: "resume" });
    expect(resumed).toMatch(flag);
    expect(resumed).toContain(REQUEST.session);
  },
);

// codex and cursor are asked for a conversation first: its id is known before the program starts, and both commands have it.
test.each(["claude", "gemini", "copilot"])(
  "differentiate between fresh and resumed commands: a fresh %s has no resume flag",
  (vendor) => {
    expect(words(vendor, { ...REQUEST, step: "new" })).not.toMatch(/resume/);
  },
);

test("claude: --name <session_name> on spawn, which a resumed one keeps", () => {
  expect(words("claude", { ...REQUEST, step: "new" })).toMatch(/--name coder\b/);
  expect(words("claude", { ...REQUEST, step: "resume" })).not.toContain("--name");
});

function words(vendor: string, request: PlanRequest): string {
  return adapterOf(vendor)?.launch.plan(request).args.join(" ") ?? "";
}
