import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import type { EventRecord } from "../../../src/protocol/records/admin.ts";
import type { NoticeRecord } from "../../../src/protocol/records/needs.ts";
import { eventually } from "../../support/check.ts";
import { fleetHome, type FleetHome } from "../../support/fleet-home.ts";
import { Tmux, type Pane } from "../../terminal/tmux.ts";
import { BIN } from "../../support/home.ts";

const FLEET = `[defaults]\nvendor = "scripted"\n[workers.coder]\n[workers.planner]\n`;

/** A home whose user has written these settings, and in which `told` keeps what it is told. */
function notified(settings: string): FleetHome {
  const fleet = fleetHome(FLEET);
  program(fleet, "told", 'cat >> "$HOME/told.log"');
  configure(fleet, settings);
  return fleet;
}

function program(fleet: FleetHome, name: string, script: string): void {
  mkdirSync(join(fleet.dir, "bin"), { recursive: true });
  writeFileSync(join(fleet.dir, "bin", name), `#!/bin/sh\n${script}\n`, { mode: 0o700 });
}

function configure(fleet: FleetHome, settings: string): void {
  const file = join(fleet.dir, ".config/perdure/config.toml");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `[notify]\n${settings}\n`);
}

function told(fleet: FleetHome): NoticeRecord[] {
  const file = join(fleet.dir, "told.log");
  const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  return lines.filter(Boolean).map((line) => JSON.parse(line) as NoticeRecord);
}

function summaries(fleet: FleetHome): string[] {
  return told(fleet).map(({ event, address, state }) => `${event} ${address} ${state}`);
}

async function events(fleet: FleetHome): Promise<EventRecord[]> {
  const { stdout } = await fleet.perdure(["events", "--json", "-n", "500"]);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as EventRecord);
}

/** Two terminals: one is attached to the worker's pane, in the other somebody watches. */
async function attach(
  fleet: FleetHome,
  name: string,
): Promise<{ pane: Pane; watching: Pane; stop: () => Promise<void> }> {
  const outer = await Tmux.start(fleet);
  const watching = await outer.pane([BIN, "ls", "-w"]);
  const pane = await outer.pane([BIN, "attach", name]);
  await pane.shows(/coder/);
  return { pane, watching, stop: () => outer.stop() };
}

it("a blocked worker is told once, with who, why and the command, and again when it went on", async () => {
  const fleet = notified(`command = ["bin/told"]\nafter = "0s"`);
  await fleet.up();
  await fleet.untilIdle();
  await fleet.type("coder", "/permission");
  await eventually("the notice", () => told(fleet).length === 1);
  expect(told(fleet)[0]).toMatchObject({
    schemaVersion: 1,
    event: "needs-you",
    address: "api/coder",
    project: "api",
    state: "blocked",
    reason: "asks for permission",
    hint: "perdure attach api/coder",
    since: expect.stringMatching(/^\d{4}-/) as string,
  });

  // A daemon that comes after a killed one does not tell it again.
  process.kill(fleet.daemonPid() ?? 0, "SIGKILL");
  await fleet.until("coder", ({ state }) => state === "blocked");
  await fleet.type("planner", "/permission");
  await eventually("the other notice", () => told(fleet).length === 2);
  await fleet.type("coder", "y");
  await eventually("that it went on", () => told(fleet).length === 3);
  expect(summaries(fleet)).toEqual([
    "needs-you api/coder blocked",
    "needs-you api/planner blocked",
    "went-on api/coder idle",
  ]);
});

it("whoever looks at the pane is not told, the others' bell rings, and the status line shows who needs them", async () => {
  const fleet = notified(`command = ["bin/told"]\nafter = "0s"`);
  await fleet.up();
  await fleet.untilIdle();
  const { pane, watching, stop } = await attach(fleet, "planner");
  try {
    await watching.shows(/q quit/);
    expect(await watching.format("#{pane_title}")).toBe("perdure");
    await fleet.type("planner", "/permission");
    await fleet.until("planner", ({ state }) => state === "blocked");
    await fleet.type("coder", "/permission");
    await eventually("the notice", () => told(fleet).length > 0);
    expect(summaries(fleet)).toEqual(["needs-you api/coder blocked"]);
    await pane.shows(/coder◆/);
    await eventually("the title of ls --watch", async () => {
      return (await watching.format("#{pane_title}")) === "◆ 2 need you: coder planner";
    });
    await eventually("the bell", async () => (await pane.format("#{window_bell_flag}")) === "1");
    const sent = (await events(fleet)).filter(({ type }) => type === "notice.sent");
    expect(sent.map(({ worker, data }) => [worker, data.by])).toEqual([["coder", "bell command"]]);
  } finally {
    await stop();
  }
});

it("a program that fails is an event and a finding of doctor, until it works again", async () => {
  const fleet = notified(`command = ["bin/fails"]\nafter = "0s"`);
  program(fleet, "fails", "echo no display >&2; exit 3");
  await fleet.up();
  await fleet.untilIdle();
  await fleet.type("coder", "/permission");
  await eventually("the failure", async () => (await events(fleet)).some(({ type }) => type === "notice.failed"));
  const failed = (await events(fleet)).find(({ type }) => type === "notice.failed");
  expect(failed).toMatchObject({ worker: "coder", data: { channel: "command" } });
  expect(failed?.data.why).toBe("bin/fails ended with 3: no display");
  expect((await fleet.perdure(["doctor"])).stdout).toMatch(
    /note +notify +command at .*no display\n.*perdure notify test/,
  );

  expect(await fleet.perdure(["notify", "test"])).toMatchObject({
    code: 5,
    stdout: expect.stringMatching(/failed +command +bin\/fails ended with 3: no display/) as string,
  });
  configure(fleet, `command = ["bin/told"]`);
  expect(await fleet.perdure(["notify", "test"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^nobody +bell +none rang: no terminal is attached.*\nok +command +sent$/m) as string,
  });
  configure(fleet, "bell = false");
  expect((await fleet.perdure(["notify", "test"])).stdout).toMatch(/^ok +bell +off, by bell = false$/m);
  configure(fleet, `command = ["bin/told"]`);
  expect(told(fleet)).toMatchObject([{ event: "test", project: "api" }]);
  expect((await fleet.perdure(["doctor"])).stdout).not.toContain("no display");
});

it("ntfy's topic is in nobody's arguments, and the reason is sent only where details are wanted", async () => {
  const fleet = notified(`ntfy = "https://ntfy.example/a-secret"\nafter = "0s"`);
  program(fleet, "curl", 'echo "$@" >> "$HOME/arguments"; cat >> "$HOME/requests"');
  fleet.env.PATH = `${join(fleet.dir, "bin")}:${fleet.env.PATH}`;
  await fleet.up();
  await fleet.untilIdle();
  const requests = (): string => readIfThere(join(fleet.dir, "requests"));
  await fleet.type("coder", "/permission");
  await eventually("the request", () => requests().includes("fail\n"));
  expect(readFileSync(join(fleet.dir, "arguments"), "utf8")).toBe("-K -\n");
  expect(requests()).toContain('url = "https://ntfy.example/a-secret"\nheader = "Title: api/coder needs you"');
  expect(requests()).toContain('data-raw = "api/coder is blocked."\n');

  configure(fleet, `ntfy = "https://ntfy.example/a-secret"\ndetails = true\nafter = "0s"`);
  await fleet.type("planner", "/permission");
  await eventually("the second request", () => requests().includes("api/planner is blocked"));
  expect(requests()).toContain(
    String.raw`data-raw = "api/planner is blocked.\nasks for permission\nperdure attach api/planner"`,
  );
});

function readIfThere(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

it("a program that hangs is ended with all it started, and the next notice follows", { timeout: 60_000 }, async () => {
  const fleet = notified(`command = ["bin/hangs"]\nafter = "0s"`);
  program(fleet, "hangs", 'echo $$ >> "$HOME/pids"; sleep 1000 & echo $! >> "$HOME/pids"; wait');
  await fleet.up();
  await fleet.untilIdle();
  await fleet.type("coder", "/permission");
  const failures = async (): Promise<unknown[]> =>
    (await events(fleet)).filter(({ type }) => type === "notice.failed").map(({ data }) => data.why);
  await eventually("its end", async () => (await failures()).length > 0);
  expect(await failures()).toEqual(["bin/hangs took longer than 10 s and was ended"]);
  const pids = readFileSync(join(fleet.dir, "pids"), "utf8").trim().split("\n");
  expect(pids).toHaveLength(2);
  await eventually("nothing of it to be left", () => pids.every((pid) => !existsSync(`/proc/${pid}`)));
  configure(fleet, `command = ["bin/told"]\nafter = "0s"`);
  await fleet.type("planner", "/permission");
  await eventually("the next notice", () => told(fleet).length === 1);
});

it("mail to the operator is told by its sender, not of one that was read in time", async () => {
  const fleet = notified(`command = ["bin/told"]\non = ["mail"]\nafter = "0s"`);
  await fleet.up();
  const [coder] = await fleet.untilIdle();
  const variables = await fleet.environmentOf(coder?.run?.pid ?? 0);
  const asCoder = { env: { ...fleet.env, ...variables, PERDURE_SOCKET: join(fleet.state, "perdure.sock") } };
  expect(await fleet.perdure(["send", "operator", "the build is red", "--id", "first"], asCoder)).toMatchObject({
    code: 0,
  });
  await eventually("the notice", () => told(fleet).length === 1);
  expect(told(fleet)[0]).toMatchObject({
    event: "needs-you",
    address: "api/coder",
    state: "mail",
    reason: expect.stringMatching(/^1 unread message: /) as string,
    hint: "perdure inbox",
  });
  // More within the minute is not told, nor is what the operator sends to themselves.
  await fleet.perdure(["send", "operator", "still red"], asCoder);
  await fleet.perdure(["send", "operator", "a note"]);
  await fleet.type("planner", "/permission");
  await fleet.until("planner", ({ state }) => state === "blocked");
  expect(summaries(fleet)).toEqual(["needs-you api/coder mail"]);
});

it("a worker on hold, and one that cannot be resumed, are told with their way out", async () => {
  const fleet = notified(`command = ["bin/told"]\nafter = "0s"\nbell = false`);
  await fleet.up();
  await fleet.untilIdle();
  await fleet.type("coder", "/login");
  await eventually("the notice", () => told(fleet).length === 1);
  expect(told(fleet)[0]).toMatchObject({
    state: "on-hold",
    address: "api/coder",
    reason: expect.stringContaining("Not logged in") as string,
    hint: expect.stringMatching(/^perdure /) as string,
  });
  await fleet.up("coder");
  await fleet.untilIdle();
  await eventually("that it went on", () => told(fleet).length === 2);
  expect(told(fleet)[1]).toMatchObject({ event: "went-on", address: "api/coder" });
  await fleet.say("planner", "hello");
  const transcript = await fleet.transcriptOf("planner");
  await fleet.down("planner");
  writeFileSync(transcript, "not what was said\n");
  await fleet.perdure(["up", "planner", "--yes"]);
  await eventually("the second notice", () => told(fleet).length === 3);
  expect(told(fleet)[2]).toMatchObject({ state: "unresumable", hint: "perdure drill api/planner" });
});
