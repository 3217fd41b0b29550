import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { History } from "../../src/protocol/records/run.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UpItem } from "../../src/protocol/records/fleet.ts";
import type { MailStep, MessageRecord } from "../../src/protocol/records/mail.ts";
import type { WorkerDetail, WorkerSummary } from "../../src/protocol/records/worker.ts";
import { processTable } from "../../src/runtime/process/index.ts";
import { readBanner } from "../support/persona.ts";
import { eventually } from "../support/check.ts";
import { byName } from "../support/fleet-home.ts";
import { BIN } from "../support/home.ts";
import { listOf, newUpgradeHome, startOldWorkers, perdureJson, type OldWorkers } from "./old-workers.ts";
import { differences, takeSnapshot, type Json, type Snapshot } from "./snapshot.ts";
import { NEW_DAEMON, type UpgradeHome } from "./upgrade-home.ts";

// The version before and this one, one after the other in one home: nothing that runs may notice, and nothing may be lost.

/** Workers that run when the daemon is replaced. */
const RUNNING = ["coder", "planner", "speaker", "claudius", "codette", "shell", "builder", "guest", "lodger"];

/** States of a worker in 0.1, whose table has no sign for any other. */
const STATES_BEFORE = new Set(
  listOf("stopped starting idle busy blocked backing-off crash-looping held paused displaced unresumable"),
);

/** In 0.1 every worker was busy of which nobody could tell what it does. */
function stateNow(before: string): string {
  return before === "busy" ? "running" : before;
}

/** Calls of 0.1 on the socket, except `stop`. */
const CALLS_BEFORE = listOf(`claim bind adopt restore fork conversations save saved forget drill
  send ask reply receive ack inbox pending mail cancel redeliver pause
  trust trusted up down restart pane screen release hold ls show history
  rename retire takeover project projects project.move events anchors status check backup`);

/** As many migrations as 0.1 knows: a store with more is not for it. */
const SCHEMA_BEFORE = 6;

describe.each(["killed", "stopped"] as const)("the daemon of the version before is %s, and this one comes", (how) => {
  let stage: UpgradeHome;
  let scene: OldWorkers;
  let before: Snapshot;
  let after: Snapshot;
  let scriptBefore: string;

  beforeAll(async () => {
    stage = newUpgradeHome();
    scene = await startOldWorkers(stage);
    before = await takeSnapshot(stage);
    scriptBefore = stage.daemonScript();
    stage.install();
    await (how === "killed" ? stage.killDaemon() : stage.stopDaemon());
    scene.endLeaver();
    await perdureJson(stage, ["daemon", "start"]);
    // An agent is looked at before it is known again what it does. What never is as it was, the comparison tells.
    const isAsBefore = async (): Promise<boolean> => {
      const now = byName((await perdureJson<{ workers: WorkerSummary[] }>(stage, ["ls"])).workers);
      return RUNNING.every((name) => now[name]?.state === stateNow(workerBefore(name).state));
    };
    await eventually("every worker to be as it was", isAsBefore, 5_000).catch(() => undefined);
    after = await takeSnapshot(stage);
  }, 180_000);

  afterAll(() => stage.clear());

  function workerBefore(name: string): WorkerDetail {
    return before[`show ${name}`] as unknown as WorkerDetail;
  }

  async function mail(id: string): Promise<{ message: MessageRecord; steps: MailStep[] }> {
    return perdureJson(stage, ["mail", id]);
  }

  it("is the program of this checkout, on the store of the version before", async () => {
    expect(scriptBefore).toBe(join(realpathSync(stage.dir), "node_modules/perdure/dist/daemon.cjs"));
    expect(stage.daemonScript()).toBe(NEW_DAEMON);
    const check = how === "killed" ? "ok" : "not-needed";
    await expect
      .poll(() => stage.json(["daemon", "status"]), { timeout: 10_000 })
      .toMatchObject({ protocol: 4, store: { check } });
  });

  it("tells the same of every worker, conversation, message and saved session", () => {
    const { events: happened, ...documents } = before;
    expect(Object.keys(documents).length).toBeGreaterThan(40);
    const changes = Object.entries(documents).flatMap(([command, told]) => differences(told, after[command], command));
    expect(changes).toEqual([]);

    const events = after.events as { worker: string | null; type: string }[];
    const known = happened as Json[];
    expect(known.length).toBeGreaterThan(100);
    expect(differences(known, events.slice(0, known.length), "events")).toEqual([]);
    // The version before kept no turns, so this one has to find out what each agent does.
    const later = events.slice(known.length).filter(({ type }) => type !== "worker.activity");
    expect(later.filter(({ worker }) => worker !== null)).toEqual([]);
  });

  it("has found a scene in which there was something to lose", () => {
    expect(Object.entries(before).filter(([, told]) => "error" in (told as object))).toEqual([]);
    const states = (before.ls as unknown as { workers: WorkerSummary[] }).workers.map(({ state }) => state);
    expect(new Set(states)).toEqual(new Set(["idle", "busy", "stopped", "paused", "crash-looping", "held"]));
    const found = Object.values(before)
      .flatMap(messagesIn)
      .map(({ state }) => state);
    const all = ["queued", "offered", "injected", "read", "answered", "expired", "cancelled", "superseded", "dead"];
    expect(new Set(found)).toEqual(new Set(all));
    expect(before.saved).toMatchObject({ saved: [{ name: "friday", active: true }] });
    expect(before["history sleeper"]).toMatchObject({ sessions: [{ current: true }, { current: false }] });
    expect(before["show artist"]).toMatchObject({ formerNames: ["painter"] });
  });

  it("has the same processes under the same runs and generations: nobody was restarted or displaced", () => {
    for (const name of RUNNING) {
      const { run, generation, restarts } = workerBefore(name);
      expect(run).not.toBeNull();
      expect(after[`show ${name}`]).toMatchObject({ run, generation, restarts, lastRun: { displacedBy: null } });
      expect(processTable().inspect(run?.pid ?? 0)).not.toBeNull();
    }
  });

  it("writes down how a run ended that ended between the two daemons", async () => {
    expect(await scene.leaving).toMatchObject({ code: 6 });
    await expect
      .poll(() => stage.json(["history", "leaver"]), { timeout: 10_000 })
      .toMatchObject({ runs: [{ exit: 6, reason: "exited", generation: 1 }] });
  });

  it("leaves an old library client its lease", async () => {
    const { run, pid, generation } = scene.guest.lease;
    const refused = await stage.json(["run", "guest", "--", "true"]);
    expect(refused).toMatchObject({ error: { code: "held", details: { run, pid } } });
    expect(await stage.show("guest")).toMatchObject({ generation, run: { id: run, pid }, mode: "client" });
    expect(scene.guest.client.reports.filter(({ kind }) => ["displaced", "failed", "over"].includes(kind))).toEqual([]);
  });

  it("brings an old client and an old command line the answers they wait for", async () => {
    await perdureJson(stage, ["reply", "ask-operator", "you may"]);
    expect(await scene.guest.client.until("answer", "ask-operator")).toMatchObject({
      from: "operator",
      body: "you may",
    });

    const replies = `${BIN} reply ask-reader 'I am'; ${BIN} reply ask-by-command 'it is'`;
    expect(await stage.perdure(["run", "reader", "--", "sh", "-c", replies])).toMatchObject({ code: 0 });
    expect(await scene.guest.client.until("answer", "ask-reader")).toMatchObject({ from: "api/reader", body: "I am" });
    expect(await scene.asking).toMatchObject({ code: 0, stdout: "it is\n" });
    expect((await mail("ask-by-command")).message.state).toBe("answered");
  });

  it("brings an old client its mail, takes what it acknowledges, and delivers what it sends", async () => {
    const { client, lease } = scene.guest;
    await perdureJson(stage, ["send", "guest", "from the new one", "--id", "to-guest"]);
    expect(await client.until("mail", "to-guest")).toMatchObject({ from: "operator", attempt: 1 });
    expect((await mail("to-guest")).steps).toMatchObject([
      { state: "queued" },
      { state: "offered", run: lease.run },
      { state: "read", run: lease.run },
    ]);

    // Offered by the old daemon, acknowledged to the new one; and never offered a second time.
    client.order({ do: "ack", id: "kept" });
    expect(await client.until("acked", "kept")).toMatchObject({ acked: true });
    expect((await mail("kept")).message).toMatchObject({ state: "read", attempt: 1 });

    client.order({ do: "send", to: "sleeper", body: "from the old one", id: "from-guest" });
    await client.until("sent", "from-guest");
    const { messages } = await perdureJson<{ messages: MessageRecord[] }>(stage, ["inbox", "sleeper"]);
    expect(messages.map(({ id }) => id)).toEqual(["queued-1", "queued-2", "queued-3", "plan-2", "from-guest"]);
    expect(messages.at(-1)).toMatchObject({ from: "api/guest", body: "from the old one" });
    const [file] = messages[1]?.attachments ?? [];
    expect(readFileSync(file?.file ?? "", "utf8")).toBe("the plan");
  });

  it("takes a program that the version before started for the worker that it is", async () => {
    const inside = async (words: string): Promise<Json> => {
      scene.talks.shell.type(`'${BIN}' ${words} --json; echo "=$?="`);
      const [, text = "", code] = await scene.talks.shell.until(/([^]*?)=(\d+)=\n/);
      expect({ code, text }).toMatchObject({ code: "0" });
      return JSON.parse(text) as Json;
    };
    expect(await inside("whoami")).toMatchObject({ address: "api/shell", run: workerBefore("shell").run?.id });
    expect(await inside("inbox")).toMatchObject({ messages: [{ id: "waits-for-shell", attempt: 1 }] });
    expect((await mail("waits-for-shell")).message.state).toBe("read");
    await inside("send napper 'from inside' --id from-shell");
    expect((await mail("from-shell")).message).toMatchObject({ from: "api/shell", to: "api/napper" });
  });

  it("follows the conversations that the version before began, into the next one too", async () => {
    const { claudius, codette } = scene.talks;
    expect(await claudius.say("again")).toContain("turns=2 first=hello claudius last=again");
    expect(await codette.say("again")).toContain("turns=2 first=hello codette last=again");
    await claudius.say("/clear");
    const id = workerBefore("claudius").session?.id;
    const { session } = await stage.until("claudius", (worker) => worker.session?.id !== id);
    expect(session).toMatchObject({ provenance: "rotated" });
    expect(await stage.json(["history", "claudius"])).toMatchObject({
      runs: [
        {
          generation: 1,
          sessions: [
            { id, proved: true },
            { id: session?.id, began: "rotation" },
          ],
        },
      ],
      sessions: [
        { id: session?.id, rotatedFrom: id, current: true },
        { id, current: false },
      ],
    });
    const { saved } = await perdureJson<{ saved: { workers: { name: string; sessionId: string }[] }[] }>(stage, [
      "saved",
    ]);
    expect(byName(saved[0]?.workers ?? []).claudius?.sessionId).toBe(session?.id);
  });

  it("answers the command line of the version before", async () => {
    const document = async (args: string[]): Promise<Json> => {
      const { code, stdout, stderr } = await stage.runOld([...args, "--json"]);
      expect({ args, code, stderr, stdout }).toMatchObject({ code: 0 });
      return JSON.parse(stdout) as Json;
    };
    const { workers } = (await document(["ls"])) as unknown as { workers: WorkerSummary[] };
    expect(workers.map(({ name }) => name)).toEqual(expect.arrayContaining(RUNNING));
    expect(await document(["send", "napper", "from the old command line", "--id", "from-old"])).toMatchObject({
      state: "queued",
    });
    const { messages } = (await document(["inbox", "napper"])) as unknown as { messages: MessageRecord[] };
    expect(messages.map(({ id }) => id)).toEqual(expect.arrayContaining(["queued-4", "from-old"]));
    expect(await document(["cancel", "from-old"])).toMatchObject({ state: "cancelled" });
    expect(await document(["show", "guest"])).toMatchObject({ run: { id: scene.guest.lease.run } });
    expect(await document(["history", "sleeper"])).toMatchObject({ address: "api/sleeper" });
    expect(await document(["saved"])).toMatchObject({ saved: [{ name: "friday" }] });
    expect(await document(["daemon", "status"])).toMatchObject({ pid: stage.daemonPid() });
    expect((await stage.runOld(["run", "by-old", "--", "sh", "-c", "exit 9"])).code).toBe(9);
    expect(await stage.json(["history", "by-old"])).toMatchObject({ runs: [{ exit: 9, reason: "exited" }] });
    // Its table has no sign for a state that it has never heard of, and falls over it; as JSON it hands on what it is told.
    const drawable = workers.every(({ state }) => STATES_BEFORE.has(state));
    expect((await stage.runOld(["ls"])).code).toBe(drawable ? 0 : 1);
  });

  it("stops what the version before started, in a terminal and in a pane, and writes down how it ended", async () => {
    expect(await stage.json(["stop", "builder", "planner"])).toMatchObject({
      workers: [{ outcome: "stopped" }, { outcome: "stopped" }],
    });
    const { id } = workerBefore("builder").run ?? {};
    expect(await stage.json(["history", "builder"])).toMatchObject({ runs: [{ id, exit: 7, reason: "stopped" }] });
    expect(await stage.json(["history", "planner"])).toMatchObject({
      runs: [{ id: workerBefore("planner").run?.id, reason: "stopped", exit: expect.any(Number) as number }],
    });
    expect((await stage.logs("planner")).stdout).toContain("hello planner");
  });

  it.each(["speaker", "codette"] as const)("resumes %s in its own conversation after a kill", async (name) => {
    const { session, run } = workerBefore(name);
    stage.killRun(run?.id ?? "");
    await scene.talks[name].ended;
    await stage.until(name, (worker) => worker.run === null);
    const again = stage.talk(name);
    const banner = readBanner(await again.answer());
    expect(banner.session).toBe(session?.id);
    expect(await again.say("still here")).toContain(`turns=${banner.turns + 1} first=hello ${name} last=still here`);
    await stage.until(name, (worker) => worker.session?.proved === true && worker.generation === 2);
    const { runs, sessions } = await stage.json<History>(["history", name]);
    expect(runs).toMatchObject([{ generation: 2 }, { id: run?.id, reason: "killed" }]);
    expect(sessions).toHaveLength(1);
  });

  it("starts a worker of the fleet again after a kill, in its own conversation", async () => {
    const { session, run } = workerBefore("coder");
    stage.killRun(run?.id ?? "");
    const back = await stage.until("coder", ({ state, generation }) => state === "idle" && generation === 2);
    expect(back).toMatchObject({ restarts: 1, session: { id: session?.id } });
    await stage.say("coder", "welcome back");
    expect(await stage.transcript("coder")).toMatch(/hello coder[^]*welcome back/);
  });

  it("starts what waited for a person only when a person says so, in its own conversation", async () => {
    const { session } = workerBefore("waiter");
    expect(workerBefore("waiter")).toMatchObject({ state: "held", generation: 1, restarts: 0 });
    expect(await stage.show("waiter")).toMatchObject({
      state: "on-hold",
      generation: 1,
      attention: workerBefore("waiter").attention,
    });
    expect(await stage.show("looper")).toMatchObject({ state: "crash-looping", generation: 5 });

    const { workers } = await stage.json<{ workers: UpItem[] }>(["up", "waiter"]);
    expect(workers).toMatchObject([{ outcome: "started", session: { id: session?.id, step: "resume" } }]);
    await stage.until("waiter", ({ state, generation }) => state === "idle" && generation === 2);
  });

  it("resumes a worker that did not run, and branches its conversation for another", async () => {
    const stem = workerBefore("sleeper").session?.id;
    const twin = stage.talk("twin");
    const branch = readBanner(await twin.answer());
    expect(branch.turns).toBe(1);
    expect(branch.session).not.toBe(stem);
    const sleeper = stage.talk("sleeper");
    expect(readBanner(await sleeper.answer())).toEqual({ session: stem, turns: 1 });
    await Promise.all([twin.end(), sleeper.end()]);
    expect(await stage.json(["history", "twin"])).toMatchObject({
      sessions: [{ id: branch.session, forkedFrom: stem }],
    });
  });

  it("knows the old name of a renamed worker", async () => {
    const sent = await perdureJson(stage, ["send", "painter", "still for you", "--id", "after-rename"]);
    expect(sent).toMatchObject({ to: "api/artist", renamedFrom: "painter" });
    const { messages } = await perdureJson<{ messages: MessageRecord[] }>(stage, ["inbox", "artist"]);
    expect(messages.map(({ id }) => id)).toEqual(["before-rename", "after-rename"]);
  });

  it("knows every call of the version before under its old name", async () => {
    const raw = await stage.connectAsOldClient();
    CALLS_BEFORE.forEach((call, at) => raw.send({ id: at + 1, call, params: {} }));
    const answers = await raw.take(CALLS_BEFORE.length);
    raw.send({ id: 1_000, call: "no-such-call", params: {} });
    const [unknown] = await raw.take(1);
    raw.close();
    expect(unknown?.error?.message).toContain("There is no call");
    const refused = answers.filter(({ error }) => error?.message.includes("There is no call"));
    expect(refused.map(({ id }) => CALLS_BEFORE[id - 1])).toEqual([]);
  });

  it("tells an old client that it was displaced", async () => {
    await perdureJson(stage, ["takeover", "lodger"]);
    expect(await scene.lodger.client.until("displaced")).toMatchObject({
      by: expect.stringMatching(/^operator /) as string,
    });
  });

  it("frees the name of an old client that is killed", async () => {
    const { run } = scene.guest.lease;
    expect(await stage.show("guest")).toMatchObject({ run: { id: run } });
    await scene.guest.client.kill();
    await stage.until("guest", (worker) => worker.run === null);
    expect(await stage.json(["history", "guest"])).toMatchObject({ runs: [{ id: run, reason: "gone" }] });
    expect(await stage.perdure(["run", "guest", "--", "true"])).toMatchObject({ code: 0 });
    expect(await stage.show("guest")).toMatchObject({ generation: 2 });
  });

  it("leaves a store that the version before opens, or refuses and leaves as it is", async () => {
    await stage.stopDaemon();
    const file = join(stage.state, "perdure.db");
    const database = new DatabaseSync(file, { readOnly: true });
    const { user_version: schema } = database.prepare("PRAGMA user_version").get() as { user_version: number };
    database.close();
    const bytes = readFileSync(file);
    const { code, stdout } = await stage.runOld(["ls", "--json"]);
    const isNewer = schema > SCHEMA_BEFORE;
    expect(code).toBe(isNewer ? 7 : 0);
    expect((JSON.parse(stdout) as { error?: { code: string } }).error?.code).toBe(isNewer ? "version" : undefined);
    expect(isNewer && !readFileSync(file).equals(bytes)).toBe(false);
  });
});

/** Returns the messages in a document of `inbox` or `mail`. */
function messagesIn(document: Json): MessageRecord[] {
  const { messages, message } = document as unknown as { messages?: MessageRecord[]; message?: MessageRecord };
  return messages ?? (message ? [message] : []);
}
