import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AttentionWatch } from "../../../src/daemon/conversations/attention.ts";
import { TITLE_SETTLE_MS } from "../../../src/limits/index.ts";
import type { Db } from "../../../src/store/db.ts";
import { insertProject } from "../../../src/store/projects.ts";
import { closeStore, openStore } from "../../../src/store/open.ts";
import type { Run } from "../../../src/store/runs.ts";
import { insertWorker } from "../../../src/store/workers.ts";
import { adapterOf, type Adapter } from "../../../src/vendors/index.ts";
import { screen } from "../../vendors/fixtures.ts";
import { eventually } from "../../support/check.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

let folder: string;
let db: Db;
let commits: number;
let nowMs: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perdure-attention-"));
  db = openStore(join(folder, "perdure.db")).db;
  commits = nowMs = 0;
});
afterEach(() => {
  closeStore(db);
  rmSync(folder, { recursive: true });
});

function watchOf(vendor: string): AttentionWatch {
  const project = insertProject(db, { slug: "api", slugKey: "api", identity: "/api", root: "/api", createdMs: 0 });
  const worker = insertWorker(db, {
    projectId: project,
    name: "coder",
    nameKey: "coder",
    createdMs: 0,
    ephemeral: false,
  });
  const run = { id: "h.api.coder.1", workerId: worker, generation: 1 } as Run;
  const write = <T>(change: () => T): Promise<T> => {
    commits++;
    return Promise.resolve(change());
  };
  const services = { db, writer: { write }, now: () => 0, monotonicMs: () => nowMs };
  return new AttentionWatch(services as never, run, adapterOf(vendor) as Adapter);
}

function events(): unknown[] {
  const rows = db.all("SELECT data FROM events WHERE type = 'worker.attention' ORDER BY seq") as { data: string }[];
  return rows.map(({ data }) => JSON.parse(data) as unknown);
}

test("turns cost nothing; a question and its end are written down, once each", async () => {
  const watch = watchOf("claude");
  const tell = (activity: "idle" | "busy" | "blocked", blocked?: "permission"): Promise<void> =>
    watch.onSign({ session: "s", evidence: "registry", activity, blocked });
  for (let turn = 0; turn < 50; turn++) await tell(turn % 2 ? "idle" : "busy");
  expect(commits).toBe(0);
  await tell("blocked", "permission");
  await tell("blocked", "permission");
  expect([watch.activity, watch.reason]).toEqual(["blocked", "permission"]);
  await tell("busy");
  await tell("idle");
  expect(commits).toBe(2);
  expect(events()).toEqual([
    { activity: "blocked", reason: "permission" },
    { activity: "busy", reason: null },
  ]);
});

test("codex tells by its title alone; what blinks is told once", async () => {
  const watch = watchOf("codex");
  for (const title of [
    "⠇ api",
    "⠏ api",
    "[ ! ] Action Required | api",
    "[ . ] Action Required | api",
    "⠇ api",
    "api",
  ]) {
    await watch.onTitle(title);
    nowMs += TITLE_SETTLE_MS;
  }
  expect(watch.activity).toBe("idle");
  expect(events()).toEqual([
    { activity: "blocked", reason: "permission" },
    { activity: "busy", reason: null },
  ]);
});

test("gemini is there and says it is idle, with a dialog in front: blocked until that is gone", async () => {
  const watch = watchOf("gemini");
  const start = { session: "s", evidence: "SessionStart hook", activity: "idle" } as const;
  await watch.onSign(start);
  await watch.onScreen(screen("gemini", "trust"));
  await watch.onTitle("◇  Ready (api)");
  await watch.onSign(start);
  expect([watch.activity, watch.reason]).toEqual(["blocked", "trust"]);
  await watch.onScreen(screen("gemini", "answered"));
  await watch.onSign({ ...start, activity: "busy" });
  await watch.onScreen(screen("gemini", "trust")); // of an agent that shows somebody else's screen
  expect([watch.activity, watch.reason]).toEqual(["busy", null]);
  expect(events()).toEqual([
    { activity: "blocked", reason: "trust" },
    { activity: null, reason: null },
  ]);
});

test("a question that gemini's hook told of is over when its title works again, not before", async () => {
  const watch = watchOf("gemini");
  await watch.onSign({ session: "s", evidence: "hook", activity: "blocked", blocked: "permission" });
  await watch.onTitle("✦  Working… (api)"); // drawn before the question
  expect(watch.activity).toBe("blocked");
  nowMs += TITLE_SETTLE_MS;
  await watch.onTitle("✋  Action Required (api)");
  expect(watch.activity).toBe("blocked");
  await watch.onTitle("✦  Working… (api)");
  expect(watch.activity).toBe("busy");
  expect(commits).toBe(2);
});

test("claude's title is not asked: it looks the same while it works and while it waits", async () => {
  const watch = watchOf("claude");
  await watch.onTitle("✳ api");
  expect(watch.activity).toBeNull();
});

test("an agent's question and its answer are among the events and in the listing", async () => {
  const persona = installPersona("scripted");
  const talk = await persona.begin("coder");
  await persona.untilProved("coder");
  await talk.say("one");
  talk.type("/permission");
  const worker = await persona.until("coder", "to ask", ({ state }) => state === "blocked");
  expect(worker.attention).toBe("asks for permission");
  talk.type("y");
  await persona.until("coder", "to go on", ({ state }) => state === "idle");
  const data = async (): Promise<unknown[]> => (await persona.events("worker.attention")).map((each) => each.data);
  await eventually("both events", async () => (await data()).length === 2);
  expect(await data()).toEqual([
    { activity: "blocked", reason: "permission" },
    { activity: "idle", reason: null },
  ]);
  expect((await persona.show("coder")).attention).toBeNull();
});
