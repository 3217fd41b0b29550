import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AttentionWatch } from "../../../../src/daemon/conversations/attention/attention.ts";
import { WorkerActivities } from "../../../../src/daemon/worker-activity.ts";
import { TITLE_POLLED_AFTER_SIGN_MS, TITLE_SETTLE_MS } from "../../../../src/limits/index.ts";
import type { Db } from "../../../../src/store/db.ts";
import { insertProject } from "../../../../src/store/projects.ts";
import { closeStore, openStore } from "../../../../src/store/open.ts";
import type { Run } from "../../../../src/store/runs.ts";
import { insertWorker } from "../../../../src/store/workers.ts";
import { adapterOf, type Adapter } from "../../../../src/vendors/index.ts";
import { screen } from "../../../vendors/fixtures.ts";
import { eventually } from "../../../support/check.ts";
import { killDaemon, personaInstaller } from "../../../support/persona-installer.ts";

const installPersona = personaInstaller();

let folder: string;
let db: Db;
let commits: number;
let nowMs: number;
let activities: WorkerActivities;
let environment: Record<string, string>;
let again: () => AttentionWatch;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perdure-attention-"));
  db = openStore(join(folder, "perdure.db")).db;
  commits = nowMs = 0;
  environment = {};
});
afterEach(() => {
  closeStore(db);
  rmSync(folder, { recursive: true });
});

function watchOf(vendor: string, runDir: string | null = null): AttentionWatch {
  const project = insertProject(db, { slug: "api", slugKey: "api", identity: "/api", root: "/api", createdMs: 0 });
  const worker = insertWorker(db, {
    projectId: project,
    name: "coder",
    nameKey: "coder",
    createdMs: 0,
    ephemeral: false,
  }).id;
  const run = { id: "h.api.coder.1", workerId: worker, generation: 1 } as Run;
  const write = <T>(change: () => T): Promise<T> => {
    commits++;
    return Promise.resolve(change());
  };
  activities = new WorkerActivities();
  activities.began(run.id, worker);
  const environments = { of: () => environment };
  const services = { db, environments, writer: { write }, activities, now: () => 0, monotonicMs: () => nowMs };
  // Another daemon takes the run over.
  again = () => new AttentionWatch(services as never, run, adapterOf(vendor) as Adapter, runDir, true);
  return new AttentionWatch(services as never, run, adapterOf(vendor) as Adapter, runDir);
}

function events(type = "worker.attention"): unknown[] {
  const rows = db.all("SELECT data FROM events WHERE type = ? ORDER BY seq", type) as { data: string }[];
  return rows.map(({ data }) => JSON.parse(data) as unknown);
}

test("turns, a question and its end are written down, once each, in one commit each", async () => {
  const watch = watchOf("claude");
  const tell = (activity: "idle" | "busy" | "blocked", blocked?: "permission"): Promise<void> =>
    watch.onSign({ session: "s", means: "open", evidence: "registry", activity, blocked });
  for (let turn = 0; turn < 10; turn++) {
    for (let times = 0; times < 50; times++) await tell("busy");
    for (let times = 0; times < 50; times++) await tell("idle");
  }
  expect(commits).toBe(20);
  expect(events()).toEqual([]);
  expect(events("worker.activity").slice(0, 3)).toEqual([
    { activity: "busy", reason: null },
    { activity: "idle", reason: null },
    { activity: "busy", reason: null },
  ]);
  commits = 0;
  await tell("blocked", "permission");
  await tell("blocked", "permission");
  expect([watch.activity, watch.reason]).toEqual(["blocked", "permission"]);
  expect(activities.of(1)).toMatchObject({ activity: "blocked", reason: "permission" });
  await tell("busy");
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

test("a title is read while an agent works, and for a moment after each sign, because tmux reports it late", async () => {
  const watch = watchOf("codex");
  expect(watch.needsTitle).toBe(false);
  const sign = { session: "s", means: "echo", evidence: "hook" } as const;
  await watch.onSign({ ...sign, activity: "busy" });
  nowMs += TITLE_POLLED_AFTER_SIGN_MS;
  expect(watch.needsTitle).toBe(true);
  await watch.onSign({ ...sign, activity: "blocked", blocked: "permission" });
  expect(watch.needsTitle).toBe(true);
  nowMs += TITLE_POLLED_AFTER_SIGN_MS;
  expect(watch.needsTitle).toBe(false);
});

test("the beginning of a turn, read in the transcript after its question, does not answer that", async () => {
  const watch = watchOf("codex");
  const sign = { session: "s", means: "echo", evidence: "hook" } as const;
  await watch.onSign({ ...sign, activity: "busy" });
  await watch.onSign({ ...sign, activity: "blocked", blocked: "permission" });
  await watch.onWritten({ activity: "busy" });
  expect(watch.activity).toBe("blocked");
  await watch.onWritten({ activity: "idle" });
  await watch.onWritten({ activity: "busy" });
  expect(watch.activity).toBe("busy");
  await watch.onWritten({ activity: "blocked", blocked: "limit" });
  await watch.onWritten({ activity: "busy" });
  expect(watch.activity).toBe("busy");
});

test("gemini is there and says it is idle, with a dialog in front: blocked until that is gone", async () => {
  const watch = watchOf("gemini");
  const start = { session: "s", means: "open", evidence: "SessionStart hook", activity: "idle" } as const;
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
  await watch.onSign({ session: "s", means: "open", evidence: "hook", activity: "blocked", blocked: "permission" });
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

test("C1: qwen is idle again after a turn that its user has interrupted, and not by that word before its first turn", async () => {
  const watch = watchOf("qwen");
  const hear = async (event: Record<string, string>): Promise<void> => {
    const sign = adapterOf("qwen")?.liveness.onHook?.({ session_id: "s", ...event });
    if (sign) await watch.onSign(sign);
  };
  const atRest = { hook_event_name: "Notification", notification_type: "idle_prompt" };
  await hear(atRest);
  expect(watch.activity).toBeNull();
  expect(watch.needsScreen(false)).toBe(true);
  await hear({ hook_event_name: "UserPromptSubmit", prompt: "hello" });
  expect(watch.activity).toBe("busy");
  await hear(atRest);
  expect(watch.activity).toBe("idle");
});

test("A1: qwen says once that it records nothing more: told until another conversation, over turns and another daemon", async () => {
  const watch = watchOf("qwen", folder);
  const sign = { session: "s", means: "open", evidence: "hook" } as const;
  const words = "Session recording stopped after a write failure";
  await watch.onSign({ ...sign, activity: "busy" });
  await watch.onScreen(screen("qwen", "unrecorded"));
  expect(watch.unrecorded).toContain(words);
  expect(watch.activity).toBe("busy");

  await watch.onSign({ ...sign, activity: "idle" });
  await watch.onTitle("Qwen - api");
  await watch.onScreen(screen("qwen", "answered")); // the line has gone up and out of the screen
  expect([watch.activity, again().unrecorded]).toEqual(["idle", watch.unrecorded]);
  expect(watch.unrecorded).toContain(words);
  expect(events()).toEqual([{ activity: "busy", reason: null, unrecorded: watch.unrecorded }]);

  await watch.onMove(false);
  expect([watch.unrecorded, again().unrecorded]).toEqual([null, null]);
  expect(events().at(-1)).toEqual({ activity: "idle", reason: null });
});

test("C1: the next daemon knows what this one knew, and tells those who wait for it", async () => {
  const watch = watchOf("pi", folder);
  expect(again().activity).toBeNull();
  await watch.onActivity({ activity: "busy" });
  activities.began("h.api.coder.2", 1);
  activities.began("h.api.coder.1", 1);
  expect(activities.of(1).activity).toBe("running");
  expect(again().activity).toBe("busy");
  expect(activities.of(1).activity).toBe("busy");
  await watch.onActivity({ activity: "blocked", blocked: "limit", words: "429: slower" });
  const next = again();
  expect([next.activity, next.reason, next.words]).toEqual(["blocked", "limit", "429: slower"]);
});

test("C2: what a failed turn says is told in one short line, without secrets, with what helps", async () => {
  environment = { ACME_KEY: "sk-secret-1", FOLDER: "environment" };
  const watch = watchOf("codex");
  db.run("UPDATE workers SET vendor = 'codex'");
  const words = `■ Missing environment variable: \`FAKE_KEY\`.\n\u001B[31m sk-secret-1 ${"x".repeat(1_000)}`;
  await watch.onActivity({ activity: "blocked", blocked: "login", words });
  expect(watch.words).toMatch(
    /^■ Missing environment variable: `FAKE_KEY`\. … x+… \(set FAKE_KEY, then bring it down and up again/,
  );
  expect(watch.words?.length).toBeLessThan(400);
  expect(events()).toEqual([{ activity: "blocked", reason: "login", words: watch.words }]);
  // In another conversation nothing has failed yet.
  await watch.onMove(true);
  expect([watch.activity, watch.words]).toEqual(["idle", null]);
});

test("C1: a turn that was left behind in another conversation is nobody's business, where its end would be read there", async () => {
  const codex = watchOf("codex");
  await codex.onActivity({ activity: "busy" });
  await codex.onMove(false);
  expect(codex.activity).toBe("busy");
  await codex.onMove(true);
  expect(codex.activity).toBe("idle");
});

test("C2: gemini's failed turn is read from its screen; words of the conversation are not", async () => {
  const watch = watchOf("gemini");
  const tell = (activity: "idle" | "busy"): Promise<void> =>
    watch.onSign({ session: "s", means: "open", evidence: "hook", activity });
  await tell("idle");
  await watch.onScreen(screen("gemini", "401")); // shown again by a resume
  expect(watch.activity).toBe("idle");
  await tell("busy");
  await watch.onScreen(screen("gemini", "429-retrying"));
  expect(watch.activity).toBe("busy");
  await tell("idle");
  expect(watch.needsScreen(false)).toBe(true);
  for (const name of ["quotes-it", "talks-of-it", "answered"]) {
    await watch.onScreen(screen("gemini", name));
    expect([name, watch.activity]).toEqual([name, "idle"]);
  }
  await watch.onScreen(screen("gemini", "401"));
  await watch.onTitle("◇  Ready (api)");
  expect([watch.activity, watch.reason]).toEqual(["blocked", "login"]);
  expect(watch.words).toContain('"code":401');
  await tell("busy");
  expect([watch.activity, watch.words]).toEqual(["busy", null]);
});

test("C1: a plain program is running, and an agent at rest is idle, resumed and with another daemon too", async () => {
  const persona = installPersona("codex");
  const { worker } = await persona.home.start("plain", ["sleep", "600"]);
  expect(worker.state).toBe("running");
  const talk = await persona.begin("coder");
  await persona.until("coder", "to rest", ({ state }) => state === "idle");
  await killDaemon(persona.home);
  await persona.until("coder", "to rest", ({ state }) => state === "idle");
  await talk.say("one");
});

// While claude asks, its registry does not prove where it is; it tells of the question all the same.
test.each(["scripted", "claude"] as const)(
  "%s's question and its answer are in the events and the listing",
  async (vendor) => {
    const persona = installPersona(vendor);
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
    const turns = (await persona.events("worker.activity")).map((each) => each.data);
    expect(turns).toContainEqual({ activity: "blocked", reason: "permission" });
    expect(turns.at(-1)).toEqual({ activity: "idle", reason: null });
    for (const [at, turn] of turns.entries()) expect(turn).not.toEqual(turns[at + 1]);
  },
);
