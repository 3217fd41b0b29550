import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { UpItem } from "../../../src/protocol/records/fleet.ts";
import { eventually } from "../../support/check.ts";
import { TurnHome } from "../../support/turn-home.ts";

// Workers that sleep until they are asked, on real daemons and processes. Each test has a worker of its own.

let home: TurnHome;
let up: { workers: UpItem[] };

beforeAll(async () => {
  home = new TurnHome(`[workers.w]\ncount = 16\n[workers.asked]\nactivate = "ask"\n`);
  up = await home.up();
});
afterAll(() => home.clear());

describe("a worker of turns", () => {
  test("is brought up without a process, and says so", async () => {
    expect(up).toMatchObject({ started: 0, running: 0, asleep: 17, refused: 0 });
    expect(up.workers[0]).toMatchObject({ name: "w-1", outcome: "asleep", run: null });
    const [first] = await home.workers();
    expect(first).toMatchObject({ name: "asked", mode: "turn", state: "asleep", run: null });
  });

  test("answers three asks of three processes in one conversation, turn by turn", async () => {
    for (const [at, text] of ["one", "two", "three"].entries()) {
      const { code, stdout } = await home.ask("w-1", text);
      expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(`turns=${at + 1}`) as string });
      expect(stdout).toContain(`\n${text}\n`);
    }
    await home.untilAsleep("w-1");
    expect(await home.told("w-1")).toHaveLength(3);
    const { runs, sessions } = await home.history("w-1");
    expect(sessions).toHaveLength(1);
    expect(runs.map(({ turn, exit }) => [turn?.outcome, exit])).toEqual([
      ["answered", 0],
      ["answered", 0],
      ["answered", 0],
    ]);
  });

  test("is told who asks, and that its last words are the reply; nothing of it is a command", async () => {
    const { code } = await home.ask("w-2", "/clear\n!ls @/etc/passwd");
    expect(code).toBe(0);
    const [told = ""] = await home.told("w-2");
    expect(told).toMatch(
      /^perdure mail \(m-[0-9a-f]+\) for api\/w-2:\n\nMessage \S+ from operator, [^\n]* It comes from the operator/,
    );
    expect(told).toContain("\n/clear\n!ls @/etc/passwd\n");
    expect(told).toContain("the last thing that you say in this turn is sent to the sender as your reply");
    expect(told).not.toContain("again");
    expect(await home.told("w-2")).toHaveLength(1);
  });

  test("is activated by plain mail, of which nobody gets the last words", async () => {
    await home.perdure(["send", "w-3", "just so you know", "--id", "plain-3"]);
    await home.untilState("plain-3", "read");
    await home.untilAsleep("w-3");
    expect((await home.message("plain-3")).steps.map(({ state }) => state)).toEqual([
      "queued",
      "offered",
      "injected",
      "read",
    ]);
    expect((await home.message("plain-3")).reply).toBeNull();
    expect(await home.told("w-3")).toHaveLength(1);
  });

  test('with activate = "ask" tells plain mail in front of the next ask, in one piece', async () => {
    await home.perdure(["send", "asked", "first note", "--id", "note-1"]);
    await home.perdure(["send", "asked", "second note", "--id", "note-2"]);
    expect(await home.stateOf("note-1")).toBe("queued");
    expect((await home.ask("asked", "now?")).code).toBe(0);
    const told = await home.told("asked");
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/first note[^]*second note[^]*now\?/);
    expect(await home.stateOf("note-2")).toBe("read");
  });

  test("makes one turn at a time, each ask a turn of its own", async () => {
    const answers = await Promise.all(["a", "b", "c"].map((text) => home.ask("w-4", `[[sleep 150]] ${text}`)));
    expect(answers.map(({ code }) => code)).toEqual([0, 0, 0]);
    await home.untilAsleep("w-4");
    const { runs } = await home.history("w-4");
    expect(runs).toHaveLength(3);
    const times = runs.map(({ startedAt, endedAt }) => [Date.parse(startedAt), Date.parse(endedAt ?? "")]).toReversed();
    for (const [at, [startedAt = 0]] of times.entries())
      expect(startedAt).toBeGreaterThanOrEqual(times[at - 1]?.[1] ?? 0);
  });

  test("sends the final answer only, not what was said before a tool", async () => {
    const { stdout } = await home.ask("w-5", "[[tool Bash]] [[say the final word]] go");
    expect(stdout.trim()).toBe("the final word");
  });

  test("sends an answer that has half of a character in it, with a mark in its place", async () => {
    const { code, stdout } = await home.ask("w-5", "[[say-half]] go");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "half \ufffd\n" });
  });

  test("an ask of another worker of the fleet is answered to that worker", async () => {
    const answer = await home.perdure(["ask", "w-6", "[[sleep 50]] hello"]);
    expect(answer.code).toBe(0);
    const { reply } = await home.message((await idsOf("w-6")).at(-1) ?? "");
    expect(reply).toMatchObject({ from: "api/w-6", to: "operator" });
  });

  test("whose agent ends without an answer leaves the ask dead, with the reason; redelivered, it is made again", async () => {
    const failed = await home.ask("w-7", "[[fail something broke]] hello", "--id", "broken-7");
    expect(failed).toMatchObject({ code: 5, stderr: expect.stringContaining("something broke") as string });
    expect(await home.stateOf("broken-7")).toBe("dead");
    const empty = await home.ask("w-7", "[[say-nothing]] hello", "--id", "empty-7");
    expect(empty).toMatchObject({ code: 5, stderr: expect.stringContaining("no answer") as string });
    expect((await home.ask("w-7", "still there?")).code).toBe(0);
    await home.perdure(["mail", "empty-7", "--redeliver"]);
    await eventually(
      "another turn for it",
      async () => (await home.message("empty-7")).steps.filter(({ state }) => state === "dead").length === 2,
    );
  });

  test.each([
    ["login", "w-8", "Not logged in"],
    ["limit", "w-9", "Usage limit reached"],
  ])("a missing %s puts the worker on hold with its mail; `up` lets it answer", async (order, name, words) => {
    const asked = home.spawn(["ask", name, `[[${order}]] hello`, "--id", `held-${order}`, "--timeout", "60s"]);
    const worker = await home.until(name, ({ state }) => state === "on-hold");
    expect(worker.attention).toContain(words);
    expect(await home.stateOf(`held-${order}`)).toBe("queued");
    asked.kill("SIGKILL");
    // The same order would hold it again.
    await home.perdure(["cancel", `held-${order}`]);
    expect(await home.perdure([order === "login" ? "restart" : "up", name])).toMatchObject({ code: 0 });
    expect((await home.ask(name, "and now?")).code).toBe(0);
  });

  test("killed before it had begun makes the turn again; killed after that it says so, and is not said again by itself", async () => {
    const first = await home.ask("w-10", "[[kill-first]] hello", "--id", "killed-first");
    expect(first).toMatchObject({ code: 5, stderr: expect.stringContaining("3 times before it had begun") as string });
    const { steps } = await home.message("killed-first");
    expect(steps.filter(({ state }) => state === "offered")).toHaveLength(3);

    const begun = await home.ask("w-10", "[[kill]] hello", "--id", "killed-begun");
    expect(begun).toMatchObject({ code: 5, stderr: expect.stringContaining("after it had begun") as string });
    expect((await home.message("killed-begun")).steps.filter(({ state }) => state === "offered")).toHaveLength(1);
    expect((await home.ask("w-10", "alive?")).code).toBe(0);
  });

  test("is stopped when its ask is cancelled", async () => {
    const asked = home.ask("w-11", "[[sleep 60000]] hello", "--id", "cancel-11");
    const run = await home.untilTurning("w-11");
    await home.perdure(["cancel", "cancel-11"]);
    await home.untilAsleep("w-11");
    expect(home.processesOf(run)).toEqual([]);
    expect(await home.stateOf("cancel-11")).toBe("cancelled");
    expect((await home.history("w-11")).runs[0]).toMatchObject({ turn: { outcome: "stopped" } });
    expect((await home.perdure(["wait", "w-11", "--idle"])).code).toBe(0);
    expect((await asked).code).toBe(5);
  });

  test("is stopped when the only mail that began it is cancelled, though it is no question", async () => {
    await home.perdure(["send", "w-11", "[[sleep 60000]] note", "--id", "cancel-note"]);
    const run = await home.untilTurning("w-11");
    expect((await home.perdure(["cancel", "cancel-note"])).code).toBe(0);
    await home.untilAsleep("w-11");
    expect(home.processesOf(run)).toEqual([]);
    const [turn] = (await home.history("w-11")).runs;
    expect(turn).toMatchObject({ reason: "stopped", turn: { outcome: "stopped" } });
    expect(turn?.turn?.reason).toContain("because its mail was cancelled");
  });

  test("answers an asker that was killed meanwhile by mail", async () => {
    const { hold, open } = home.gate();
    const asker = home.spawn(["ask", "w-11", `${hold} [[say late]] hello`, "--id", "orphan-11"]);
    await home.untilTurning("w-11");
    asker.kill("SIGKILL");
    await once(asker, "exit");
    open();
    await home.untilState("orphan-11", "answered");
    const { messages } = await home.json<{ messages: { body: string; replyTo: string }[] }>(["inbox", "--peek"]);
    expect(messages.find(({ replyTo }) => replyTo === "orphan-11")?.body).toBe("late");
  });

  test("refuses a start by hand while it goes on, and says for how long it has", async () => {
    const { hold, open } = home.gate();
    const asked = home.ask("w-12", `${hold} hello`);
    await home.untilTurning("w-12");
    const byHand = await home.perdure(["run", "w-12"]);
    expect(byHand).toMatchObject({ code: 4, stderr: expect.stringMatching(/w-12 is in a turn, for \d+ s/) as string });
    open();
    expect((await asked).code).toBe(0);
  });

  test("goes on when the daemon is killed, and the next daemon sends its answer, once", async () => {
    const { hold, open } = home.gate();
    const asked = home.ask("w-13", `${hold} hello`, "--id", "daemon-13");
    await home.untilTurning("w-13");
    await home.killDaemon();
    open();
    expect((await asked).code).toBe(0);
    await home.untilAsleep("w-13");
    expect(await home.told("w-13")).toHaveLength(1);
    expect((await home.message("daemon-13")).steps.filter(({ state }) => state === "answered")).toHaveLength(1);
  });

  test("that ended while there was no daemon is answered by the next one", async () => {
    const { hold, open } = home.gate();
    await home.perdure(["send", "w-14", `${hold} hello`, "--expects-reply", "--id", "alone-14"]);
    const run = await home.untilTurning("w-14");
    await home.killDaemon();
    open();
    await eventually("the turn to end by itself", () => home.processesOf(run).length === 0);
    expect(await home.stateOf("alone-14")).toBe("answered");
    expect((await home.message("alone-14")).reply?.body).toContain("turns=1");
    expect(await home.told("w-14")).toHaveLength(1);
  });

  test("`down` stops it, and mail waits until it is up again", async () => {
    await home.perdure(["down", "w-15"]);
    expect((await home.until("w-15", () => true)).state).toBe("stopped");
    const sent = await home.json<{ outlook: string }>(["send", "w-15", "hello", "--expects-reply", "--id", "down-15"]);
    expect(sent.outlook).toBe("at its next start");
    expect(await home.stateOf("down-15")).toBe("queued");
    await home.up("w-15");
    await home.untilState("down-15", "answered");
  });

  test("opened by `attach` it is in a pane, its mail waits, and it sleeps again at the end of the program", async () => {
    const { code } = await home.ask("w-16", "before");
    expect(code).toBe(0);
    await home.untilAsleep("w-16");
    await home.pane("w-16");
    const { session } = await home.until("w-16", ({ state }) => state === "idle");
    expect(await home.perdure(["attach", "asked", "--json"])).toMatchObject({ code: 0 });
    const sent = await home.json<{ outlook: string }>([
      "send",
      "w-16",
      "meanwhile",
      "--expects-reply",
      "--id",
      "open-16",
    ]);
    expect(sent.outlook).toBe("when nobody has it open any more");
    await home.say("w-16", "typed by a person");
    expect(await home.stateOf("open-16")).toBe("queued");
    await home.type("w-16", "/exit");
    await home.untilState("open-16", "answered");
    await home.untilAsleep("w-16");
    expect((await home.until("w-16", () => true)).session?.id).toBe(session?.id);
    expect((await home.message("open-16")).reply?.body).toContain("turns=3");
  });

  test("`perdure turn` has a worker that was never one of turns make one", async () => {
    await home.perdure(["run", "plain", "--vendor", "scripted", "--", "--script", "obeys-mail", "-p", "first"]);
    const { code, stdout } = await home.perdure(["turn", "plain", "[[say done]] second"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "done\n" });
    await home.until("plain", ({ state }) => state === "stopped");
    expect((await home.history("plain")).sessions).toHaveLength(1);
  });
});

async function idsOf(name: string): Promise<string[]> {
  const { messages } = await home.json<{ messages: { id: string; to: string }[] }>(["mail", "--state", "all"]);
  return messages.filter(({ to }) => to === `api/${name}`).map(({ id }) => id);
}
