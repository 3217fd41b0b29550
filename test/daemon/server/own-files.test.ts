import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync, cpSync } from "node:fs";
import { once } from "node:events";
import { basename, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { connectToDaemon } from "../../../src/client/connect.ts";
import type { MessageRecord } from "../../../src/protocol/records/mail.ts";
import { findDaemons, processTable } from "../../../src/runtime/process/index.ts";
import { statePaths } from "../../../src/state/paths.ts";
import { eventually } from "../../support/check.ts";
import { Home } from "../../support/home.ts";
import { isFileOrFolder } from "../../support/tree.ts";
import { sendParams } from "../../support/send-params.ts";

const homes: Home[] = [];
async function homeWithMail(): Promise<Home> {
  const home = new Home();
  homes.push(home);
  await home.perdure(["run", "coder", "--", "true"]);
  expect(await send(home, "first")).toBe(0);
  return home;
}
afterEach(async () => {
  for (const home of homes.splice(0)) await home.clear();
});

const send = async (home: Home, body: string): Promise<number> => (await home.perdure(["send", "coder", body])).code;
const daemons = (home: Home): number[] => findDaemons(processTable(), statePaths(home.env)).map(({ pid }) => pid);
const inbox = async (home: Home): Promise<string[]> =>
  (await home.json<{ messages: MessageRecord[] }>(["inbox", "coder"])).messages.map(({ body }) => body);
const remove = (home: Home, ...files: string[]): void => {
  for (const file of files) rmSync(join(home.state, file), { recursive: true });
};
const STORE = ["perdure.db", "perdure.db-wal", "perdure.db-shm"];

test("B4: a removed socket is there again, under the same daemon", async () => {
  const home = await homeWithMail();
  const [pid] = daemons(home);
  remove(home, "perdure.sock");
  expect(await send(home, "second")).toBe(0);
  expect(await home.json(["daemon", "status"])).toMatchObject({ running: true, pid });
});

test("B4: clients that are connected go on while the socket is made again", async () => {
  const home = await homeWithMail();
  const client = await connectToDaemon({ env: home.env });
  remove(home, "perdure.sock");
  expect(await send(home, "second")).toBe(0);
  await client.call("send", sendParams(home, "coder", "third"));
  client.close();
  expect(await inbox(home)).toEqual(["first", "second", "third"]);
});

test("B4: `daemon stop` finds a daemon without socket and pid file, and no stranger", async () => {
  const home = await homeWithMail();
  const other = await homeWithMail();
  const [pid, stranger] = [daemons(home)[0], daemons(other)[0]];
  writeFileSync(join(home.state, "daemon.json"), JSON.stringify({ pid: stranger }));
  remove(home, "perdure.sock", "daemon.json");
  expect(await home.json(["daemon", "stop"])).toMatchObject({ stopped: true, pid });
  expect([daemons(home), daemons(other)]).toEqual([[], [stranger]]);
});

test("B4: with its lock removed, the daemon takes it again and stays the only one", async () => {
  const home = await homeWithMail();
  const before = daemons(home);
  remove(home, "daemon.lock", "perdure.sock", "daemon.json");
  const answers = await Promise.all(["a", "b", "c"].map((body) => send(home, body)));
  expect(answers).toEqual([0, 0, 0]);
  await eventually("one daemon", () => daemons(home).length === 1);
  expect((await inbox(home)).toSorted()).toEqual(["a", "b", "c", "first"]);
  expect(before).toHaveLength(1);
});

test("B4: a suspended daemon whose lock was removed keeps a second one from serving; `daemon stop` says how to go on", async () => {
  const home = await homeWithMail();
  const pid = daemons(home)[0] ?? 0;
  process.kill(pid, "SIGSTOP");
  remove(home, "daemon.lock", "perdure.sock");
  const refused = await home.perdure(["send", "coder", "second"]);
  process.kill(pid, "SIGCONT");
  expect(refused).toMatchObject({ code: 7 });
  expect(refused.stderr).toMatch(new RegExp(`Another daemon \\(pid ${pid}\\).*perdure daemon stop`, "s"));
});

test("B4: nothing is acknowledged into a store that is gone, and all it held can be restored", async () => {
  const home = await homeWithMail();
  const client = await connectToDaemon({ env: home.env });
  remove(home, ...STORE);
  await expect(client.call("send", sendParams(home, "coder", "lost"))).rejects.toMatchObject({ code: "damaged" });
  client.close();
  const refused = await home.perdure(["ls"]);
  expect(refused).toMatchObject({ code: 7 });
  const restore = /perdure daemon start --restore '?([^\s';]+)/.exec(refused.stderr)?.[1] ?? "";
  expect(basename(restore)).toMatch(/^perdure\.db\.rescued-/);
  expect(await home.perdure(["daemon", "start", "--restore", restore])).toMatchObject({ code: 0 });
  expect(await inbox(home)).toContain("first");
});

test("B4: with only its log removed the store is whole, and the next daemon serves it", async () => {
  const home = await homeWithMail();
  // Connected before: a command that begins later may find the next daemon already.
  const client = await connectToDaemon({ env: home.env });
  remove(home, "perdure.db-wal");
  await expect(client.call("send", sendParams(home, "coder", "second"))).rejects.toMatchObject({ code: "damaged" });
  client.close();
  expect(await send(home, "third")).toBe(0);
  expect(await inbox(home)).toEqual(expect.arrayContaining(["first", "third"]));
});

test("B4: a state folder that was moved is named; moved back, everything is there", async () => {
  const home = await homeWithMail();
  const away = `${home.state}.away`;
  renameSync(home.state, away);
  await eventually("the daemon to leave", () => daemons(home).length === 0);
  const refused = await home.perdure(["ls"]);
  expect(refused).toMatchObject({ code: 7 });
  expect(refused.stderr).toContain(`moved to ${away}/perdure.db`);
  rmSync(home.state, { recursive: true });
  renameSync(away, home.state);
  expect(await inbox(home)).toEqual(["first"]);
});

test("B4: a state folder that was replaced gets a daemon of its own; the old one touches nothing in it", async () => {
  const home = await homeWithMail();
  const [before] = daemons(home);
  cpSync(home.state, `${home.state}.copy`, { recursive: true, filter: isFileOrFolder });
  renameSync(home.state, `${home.state}.old`);
  renameSync(`${home.state}.copy`, home.state);
  expect(await send(home, "second")).toBe(0);
  const { pid } = await home.json<{ pid: number }>(["daemon", "status"]);
  expect(pid).not.toBe(before);
  expect(await inbox(home)).toEqual(["first", "second"]);
});

test("B4: with the folder gone, no daemon begins anew while a worker of it runs", async () => {
  const home = await homeWithMail();
  const { worker } = await home.start("sleeper", ["sleep", "600"]);
  const run = worker.run?.id ?? "";
  process.kill(home.daemonPid() ?? 0, "SIGKILL");
  await eventually("the daemon to be gone", () => daemons(home).length === 0);
  rmSync(home.state, { recursive: true });
  const refused = await home.perdure(["run", "sleeper", "--", "true"]);
  expect(refused).toMatchObject({ code: 7 });
  expect(refused.stderr).toContain(run);
  expect(home.processesOf(run)).not.toEqual([]);
  home.killRun(run);
});

test("B4: a run whose folder was removed goes on, and its exit code is still found", async () => {
  const home = await homeWithMail();
  const go = join(home.project, "go");
  const script = `while [ ! -e '${go}' ]; do sleep 0.02; done; exit 6`;
  const { child, worker } = await home.start("coder", ["sh", "-c", script]);
  const folder = readdirSync(join(home.state, "runs")).find((name) => name.startsWith(worker.run?.id ?? "?")) ?? "";
  remove(home, "runs");
  await eventually("the run's folder", () => existsSync(join(home.state, "runs", folder)));
  writeFileSync(go, "");
  await once(child, "close");
  const ended = await home.until("coder", ({ state }) => state === "stopped");
  expect(JSON.stringify(ended)).toContain('"exit":6');
  expect((await home.perdure(["events"])).stdout).toContain("run.folder-lost");
});

test("B4: projects.json, daemon.json and the log are made again", async () => {
  const home = await homeWithMail();
  const pid = home.daemonPid();
  remove(home, "projects.json", "daemon.json", "logs", "high-water");
  await eventually("daemon.json", () => home.daemonPid() === pid);
  await eventually("projects.json", () => existsSync(join(home.state, "projects.json")));
  expect(await send(home, "second")).toBe(0);
  expect(existsSync(join(home.state, "logs", "daemon.log"))).toBe(true);
  expect(parseInt(readFileSync(join(home.state, "high-water"), "utf8"), 10)).toBeGreaterThan(0);
});

test("B4: a daemon.json that could not be written is written once it can be", async () => {
  const home = await homeWithMail();
  const pid = home.daemonPid();
  // A folder with the name of the file that is written first: the write fails as on a full disk.
  const obstacle = join(home.state, `daemon.json.${pid}.tmp`);
  mkdirSync(obstacle);
  remove(home, "daemon.json");
  const log = join(home.state, "logs", "daemon.log");
  await eventually("the failure", () => readFileSync(log, "utf8").includes("daemon.json could not be written"));
  rmSync(obstacle, { recursive: true });
  await eventually("daemon.json", () => home.daemonPid() === pid);
  expect(await home.json(["daemon", "status"])).toMatchObject({ running: true, pid });
});

test("B4: a leaving daemon does not remove the socket of its successor", async () => {
  const home = await homeWithMail();
  const [first] = daemons(home);
  process.kill(first ?? 0, "SIGSTOP");
  renameSync(home.state, `${home.state}.old`);
  mkdirSync(home.state, { mode: 0o700 });
  writeFileSync(join(home.state, "perdure.sock"), "another's");
  process.kill(first ?? 0, "SIGCONT");
  await eventually("the daemon to leave", () => daemons(home).length === 0);
  expect(readFileSync(join(home.state, "perdure.sock"), "utf8")).toBe("another's");
});
