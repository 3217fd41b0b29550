import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connectToDaemon } from "../../../src/client/connect.ts";
import type { MessageRecord } from "../../../src/protocol/records/mail.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { HISTORY_ROWS_DEFAULT, TURN_QUEUE_READ } from "../../../src/limits/index.ts";
import { processTable } from "../../../src/runtime/process/index.ts";
import { eventually } from "../../support/check.ts";
import { BIN } from "../../support/home.ts";
import { clientClaim } from "../../support/in-home.ts";
import { sendParams } from "../../support/send-params.ts";
import { TurnHome } from "../../support/turn-home.ts";

// What keeps turns from beginning, and ends those that go on, on real daemons and processes.

let home: TurnHome;
beforeEach(() => {
  home = new TurnHome("");
});
afterEach(() => home.clear());

function workers(toml: string): void {
  home.write(`[defaults]\nvendor = "scripted"\nmode = "turn"\nargs = ["--script", "obeys-mail"]\n${toml}`);
}

test("a turn that takes too long is stopped: dead if it had begun, else made again, three times in all", async () => {
  workers('[turns]\ntimeout = "1s"\n[workers.begun]\n[workers.hangs]\n');
  await home.up();
  const [begun, hangs] = await Promise.all([
    home.ask("begun", "[[sleep 60000]] hello", "--id", "begun-1"),
    home.ask("hangs", "[[sleep-first 60000]] hello", "--id", "hangs-1"),
  ]);
  expect(begun).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(
      /stopped by perdure, because it had no answer after 1 s; it had begun by then/,
    ) as string,
  });
  expect((await home.message("begun-1")).steps.filter(({ state }) => state === "offered")).toHaveLength(1);
  expect(hangs).toMatchObject({ code: 5, stderr: expect.stringContaining("no answer after 1 s, 3 times") as string });
  const { steps } = await home.message("hangs-1");
  expect(steps.filter(({ state }) => state === "offered")).toHaveLength(3);
  expect(steps.at(-1)?.state).toBe("dead");
  await home.untilAsleep("begun");
  // Redelivered, it is asked once more.
  workers("[workers.begun]\n[workers.hangs]\n");
  expect((await home.ask("hangs", "and now?")).code).toBe(0);
});

test("above the bounds of an hour mail waits, the person is told, and what the operator asks for by hand is not held", async () => {
  const bounds = (worker: number, project: number): string =>
    `[turns]\nper_hour = ${worker}\nproject_per_hour = ${project}\n[workers.w]\ncount = 3\n`;
  workers(bounds(2, 3));
  await home.up();
  for (const text of ["one", "two"]) expect((await home.ask("w-1", text)).code).toBe(0);
  await home.perdure(["send", "w-1", "three", "--expects-reply", "--id", "held-1"]);
  const held = await home.until("w-1", ({ state }) => state === "on-hold");
  expect(held).toMatchObject({ attention: "mail waits: it had 2 turns in an hour", unread: 1, run: null });
  expect((await home.ask("w-2", "four")).code).toBe(0);
  await home.perdure(["send", "w-3", "five", "--expects-reply", "--id", "held-3"]);
  const all = await home.until("w-3", ({ state }) => state === "on-hold");
  expect(all.attention).toBe("mail waits: its project had 3 turns in an hour");
  expect([await home.stateOf("held-1"), await home.stateOf("held-3")]).toEqual(["queued", "queued"]);
  const needy = await home.json<{ workers: { name: string }[] }>(["wait", "--needs-me"]);
  expect(needy.workers.map(({ name }) => name).toSorted()).toEqual(["w-1", "w-3"]);

  // It does not wait behind what is held, and takes nothing of that along.
  expect(await home.perdure(["turn", "w-3", "[[say by hand]] six"])).toMatchObject({ code: 0, stdout: "by hand\n" });
  expect(await home.stateOf("held-3")).toBe("queued");
  expect((await home.told("w-3")).join()).not.toContain("five");

  // A higher bound counts at the next look.
  workers(bounds(20, 30));
  await home.up();
  await home.untilState("held-1", "answered");
  await home.untilState("held-3", "answered");
});

test("an ask is found behind more mail than is read at once, of one who may begin no turn", async () => {
  workers('[workers.closed]\nturns_from = ["peer"]\n[workers.peer]\n');
  await home.up();
  const client = await connectToDaemon({ env: home.env });
  const { run, generation, token } = await client.call("claim", clientClaim(home, "peer", process.pid));
  const sent = Array.from({ length: TURN_QUEUE_READ + 1 }, (_, at) =>
    client.call("send", sendParams(home, "closed", "not for you", { id: `no-${at}` })),
  );
  await Promise.all(sent);
  const as = { run, generation, token };
  await client.call("send", sendParams(home, "closed", "well?", { id: "yes-1", expectsReply: true, as }));
  await home.untilState("yes-1", "answered");
  expect(await home.stateOf("no-0")).toBe("queued");
  expect(await home.told("closed")).toHaveLength(1);
  client.close();
});

test("a worker that another one has started stays that one's, though the operator has it make turns", async () => {
  workers("[workers.peer]\n");
  await home.up();
  const client = await connectToDaemon({ env: home.env });
  const { token } = await client.call("claim", clientClaim(home, "peer", process.pid));
  const env = { ...home.env, PERDURE_SOCKET: `${home.state}/perdure.sock`, PERDURE_TOKEN: token };
  const run = ["run", "child", "--vendor", "scripted", "--", "--script", "obeys-mail", "-p", "first"];
  expect(await home.perdure(run, { env })).toMatchObject({ code: 0 });
  for (const text of ["one", "two"]) {
    expect(await home.perdure(["turn", "child", `[[pass supervisor ${BIN}]] ${text}`])).toMatchObject({ code: 0 });
  }
  const { messages } = await home.json<{ messages: MessageRecord[] }>(["mail", "--state", "all"]);
  const sent = messages.filter(({ from, replyTo }) => from === "api/child" && replyTo === null);
  expect(sent.map(({ to }) => to)).toEqual(["api/peer", "api/peer"]);
  client.close();
});

test("`up` with other arguments counts from the next turn on, though a turn goes on or somebody has the worker open", async () => {
  const args = (more: string): string => `[workers.w]\nargs = ["--script", "obeys-mail"${more}]\n`;
  const command = async (): Promise<string[]> =>
    (await home.json<{ command: string[] }>(["show", "w"])).command.slice(1);
  workers(args(""));
  await home.up();
  const { hold, open } = home.gate();
  const asked = home.ask("w", `${hold} one`);
  await home.untilTurning("w");
  workers(args(', "--unasked"'));
  await home.up();
  open();
  expect((await asked).code).toBe(0);
  expect(await command()).toEqual(["--script", "obeys-mail", "--unasked"]);
  await home.untilAsleep("w");
  await home.pane("w");
  workers(args(""));
  await home.up();
  await home.type("w", "/exit");
  await home.untilAsleep("w");
  expect(await command()).toEqual(["--script", "obeys-mail"]);
  expect((await home.ask("w", "two")).code).toBe(0);
});

test("mail that waits is kept while a worker of turns becomes one in a pane, and is answered when it is one of turns again", async () => {
  const mode = (word: string): void =>
    home.write(`[workers.w]\nvendor = "scripted"\nmode = "${word}"\nargs = ["--script", "obeys-mail"]\n`);
  mode("turn");
  await home.up();
  expect((await home.ask("w", "one")).stdout).toMatch(/^turns=1 /);
  await home.untilAsleep("w");
  await home.perdure(["pause", "w"]);
  await home.perdure(["send", "w", "two", "--expects-reply", "--id", "kept-2"]);
  mode("tmux");
  expect(await home.up()).toMatchObject({ started: 1, asleep: 0 });
  const open = await home.until("w", ({ state, session }) => state === "idle" && session?.proved === true);
  expect(open).toMatchObject({ mode: "tmux", unread: 1 });
  mode("turn");
  expect((await home.up()).workers[0]).toMatchObject({
    outcome: "running",
    reason: "somebody has it open; its mail begins turns once that has ended",
  });
  expect(await home.stateOf("kept-2")).toBe("queued");
  await home.type("w", "/exit");
  await home.until("w", ({ run }) => run === null);
  await home.perdure(["pause", "w", "--off"]);
  await home.untilState("kept-2", "answered");
  await home.untilAsleep("w");
  expect((await home.message("kept-2")).reply?.body).toMatch(/^turns=2 /);
  const { sessions, runs } = await home.history("w");
  expect(sessions).toHaveLength(1);
  expect(runs.map(({ turn }) => turn?.outcome ?? null)).toEqual(["answered", null, "answered"]);
});

test("made one in a pane while a turn goes on, a worker is started there when the turn has ended", async () => {
  workers("[workers.w]\n");
  await home.up();
  const { hold, open } = home.gate();
  const asked = home.ask("w", `${hold} one`);
  await home.untilTurning("w");
  home.write('[workers.w]\nvendor = "scripted"\nargs = ["--script", "obeys-mail"]\n');
  expect((await home.up()).workers[0]).toMatchObject({
    outcome: "running",
    reason: "in a turn; it is started in a pane once that has ended",
  });
  open();
  expect((await asked).code).toBe(0);
  expect(await home.until("w", ({ state }) => state === "idle")).toMatchObject({ mode: "tmux" });
});

test("what keeps a turn from beginning is told with its mail kept, and mail is answered once it is put right", async () => {
  const sub = `${home.project}/sub`;
  mkdirSync(sub);
  workers('[workers.absent]\nvendor = "claude"\nargs = []\n[workers.away]\ncwd = "sub"\n');
  await home.up();
  await home.perdure(["send", "absent", "hello", "--expects-reply", "--id", "absent-1"]);
  const absent = await home.until("absent", ({ state }) => state === "on-hold");
  expect(absent.attention).toContain("claude is not on PATH");
  expect((await home.ask("away", "one")).code).toBe(0);
  await home.untilAsleep("away");

  renameSync(sub, `${sub}-moved`);
  await home.perdure(["send", "away", "two", "--expects-reply", "--id", "away-2"]);
  const gone = await home.until("away", ({ state }) => state === "on-hold");
  expect(gone.attention).toContain("no longer exists");
  renameSync(`${sub}-moved`, sub);
  await home.up("away");
  await home.untilState("away-2", "answered");
  await home.untilAsleep("away");

  const transcript = await home.transcriptOf("away");
  writeFileSync(transcript, "no line of a transcript\n");
  await home.perdure(["send", "away", "three", "--expects-reply", "--id", "away-3"]);
  await home.until("away", ({ state }) => state === "unresumable");
  expect([await home.stateOf("absent-1"), await home.stateOf("away-3")]).toEqual(["queued", "queued"]);
  // Without the damaged file there is the copy.
  rmSync(transcript);
  await home.up("away");
  await home.untilState("away-3", "answered");
  expect((await home.message("away-3")).reply?.body).toMatch(/^turns=3 /);
});

test("the agent's own telemetry says which worker and run it is of, behind what the user has set", async () => {
  workers('[workers.w]\nenv = { OTEL_RESOURCE_ATTRIBUTES = "team=a" }\n');
  await home.up();
  const { hold, open } = home.gate();
  const asked = home.ask("w", `${hold} one`);
  const run = await home.untilTurning("w");
  const table = processTable();
  const values = home.processesOf(run).map(({ pid }) => table.variable(pid, "OTEL_RESOURCE_ATTRIBUTES"));
  expect(values).toContain(`team=a,perdure.worker=api/w,perdure.run=${run}`);
  open();
  expect((await asked).code).toBe(0);
});

test("`logs -f` shows each step of a turn once, when it is made, and then of the next ones, however short", async () => {
  workers("[workers.w]\n");
  await home.up();
  const followed = home.spawn(["logs", "w", "-f"]);
  let shown = "";
  followed.stdout?.setEncoding("utf8").on("data", (text: string) => (shown += text));
  const { hold, open } = home.gate();
  const asked = home.ask("w", `[[tool One]] ${hold} [[tool Two]] [[say the end]]`, "--id", "log-1");
  await eventually("the first step", () => shown.includes("· One\n"));
  expect((await home.logs("w")).stdout).toMatch(/^← log-1 from operator\n· One\n… the turn goes on\n$/);
  expect(shown).not.toContain("· Two");
  open();
  expect((await asked).code).toBe(0);
  for (const id of ["log-2", "log-3", "log-4"]) await home.ask("w", `[[say ${id}]]`, "--id", id);
  const short = ["log-2", "log-3", "log-4"].map((id) => `← ${id} from operator\n${id}\nanswered\n`).join("");
  await eventually("the last turn", () => shown.endsWith("log-4\nanswered\n"));
  expect(shown).toBe(`← log-1 from operator\n· One\n· Two\nthe end\nanswered\n${short}`);
  followed.kill();
  expect((await home.perdure(["logs", "w", "-n", "1"])).stdout).toBe("answered\n");
  expect((await home.perdure(["logs", "w", "--run", "1", "-n", "2"])).stdout).toBe("the end\nanswered\n");
});

test(
  "`history` shows many turns that went well in one row, and what was before them",
  { timeout: 180_000 },
  async () => {
    workers("[turns]\nper_hour = 100\n[workers.w]\n");
    await home.up();
    expect((await home.ask("w", "[[fail on purpose]]")).code).toBe(5);
    const client = await connectToDaemon({ env: home.env });
    const ids = Array.from({ length: HISTORY_ROWS_DEFAULT + 2 }, (_, at) => `h-${at}`);
    for (const id of ids) await client.call("send", sendParams(home, "w", "go on", { id, expectsReply: true }));
    client.close();
    await eventually("all to be answered", async () => (await home.stateOf(ids.at(-1) ?? "")) === "answered", 150_000);
    await home.untilAsleep("w");
    const rows = (await home.perdure(["history", "w"])).stdout.split("\n");
    expect(rows[2]).toMatch(/^53 .* turn answered /);
    expect(rows[3]).toMatch(/^2-52 .* 0 +51 turns, all well /);
    expect(rows[4]).toMatch(/^1 .* turn failed /);
    expect((await home.history("w")).runs).toHaveLength(HISTORY_ROWS_DEFAULT);
  },
);

test("before it is trusted, the fleet file is shown with whose mail starts whom, and what the program may do then", async () => {
  home.write(`[defaults]\nmode = "turn"
[workers.editor]\nvendor = "claude"\nargs = ["--permission-mode", "acceptEdits"]
[workers.free]\nvendor = "claude"\nargs = ["--dangerously-skip-permissions"]
[workers.named]\nvendor = "codex"\nturns_from = ["operator", "editor"]
[workers.pi]\nvendor = "pi"\nargs = ["--tools", "read"]\n`);
  const { code, stderr } = await home.perdure(["up"]);
  expect(code).not.toBe(0);
  for (const line of [
    "editor answers mail by itself; from you and this fleet; may: read files, and change those in its folder;",
    "free answers mail by itself; from you; may: edit any file and run any command without asking",
    "named answers mail by itself; from operator, editor; may: read files and run commands, in a sandbox",
    "pi answers mail by itself; from you; may: use read on any file without asking",
  ])
    expect(stderr).toContain(line);
});

test("`ls` shows who sleeps, who is in a turn and for how long, and how the last turn went", async () => {
  workers("[workers.w]\n");
  await home.up();
  expect((await home.perdure(["ls"])).stdout).toMatch(/^w .* asleep /m);
  const { hold, open } = home.gate();
  const asked = home.ask("w", `${hold} [[say yes]]`, "--id", "shown-1");
  await home.untilTurning("w");
  expect((await home.perdure(["ls"])).stdout).toMatch(/^w .* turning .* answers shown-1, for \d+ s$/m);
  open();
  expect((await asked).code).toBe(0);
  await home.untilAsleep("w");
  expect((await home.perdure(["ls"])).stdout).toMatch(/^w .* asleep .* last turn answered in \d+ s, \d+s ago$/m);
});
