import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeSync,
} from "node:fs";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ErrorBody } from "../../../src/protocol/errors.ts";
import type { History } from "../../../src/protocol/records/run.ts";
import { BIN, finish, Home, type Finished } from "../../support/home.ts";

let home: Home;
let store: string;
beforeEach(() => {
  home = new Home();
  store = join(home.state, "perdure.db");
});
afterEach(() => home.clear());

test("a backup is whole, taken while a worker runs, and never overwrites", async () => {
  await home.start("coder", ["sleep", "600"]);
  const file = join(home.dir, "friday.db");
  expect(await home.json(["backup", file])).toMatchObject({ file, bytes: statSync(file).size });

  const copy = new DatabaseSync(file, { readOnly: true });
  expect(copy.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  expect(copy.prepare("SELECT name FROM workers").all()).toEqual([{ name: "coder" }]);
  copy.close();
  expect(statSync(file).mode & 0o077).toBe(0);
  expect(await home.perdure(["backup", file])).toMatchObject({ code: 4 });
});

test("the restore procedure that backup prints works as printed, with spaces in the path too", async () => {
  await home.perdure(["run", "coder", "--", "true"]);
  const { stderr } = await home.perdure(["backup", "fri day.db"]);
  await home.perdure(["run", "coder", "--", "true"]);
  await home.perdure(["run", "later", "--", "true"]);

  expect(await shell(/To restore it: (.*)/.exec(stderr)?.[1] ?? "")).toMatchObject({ code: 0 });

  expect((await home.json<History>(["history", "coder"])).runs.map(({ generation }) => generation)).toEqual([1]);
  expect(await home.perdure(["show", "later"])).toMatchObject({ code: 3 });
  expect(await home.perdure(["doctor"])).toMatchObject({ code: 0 });
});

test("A: a backup that is put back says which workers have run since, for it takes them back to an earlier conversation", async () => {
  await home.perdure(["run", "coder", "--", "true"]);
  await home.perdure(["backup", "old.db"]);
  await home.perdure(["run", "coder", "--", "true"]);
  await home.perdure(["run", "later", "--", "true"]);
  await home.perdure(["daemon", "stop"]);
  const { code, stderr } = await home.perdure(["daemon", "start", "--restore", "old.db"]);
  expect(code).toBe(0);
  expect(stderr).toContain("coder");
  expect(stderr).toContain("later");
});

test("a backup that does not know a live run is not put back: its name would have two owners", async () => {
  await home.perdure(["run", "coder", "--", "true"]);
  await home.perdure(["backup", "old.db"]);
  const { worker } = await home.start("coder", ["sleep", "600"]);
  await home.perdure(["daemon", "stop"]);
  const restore = await home.perdure(["daemon", "start", "--restore", "old.db"]);
  expect(restore).toMatchObject({ code: 4, stderr: expect.stringContaining(worker.run?.id ?? "?") as string });
  expect(await home.until("coder", () => true)).toMatchObject({ run: worker.run });
});

test("an empty store is not begun while a worker lives: its name would have two owners", async () => {
  const { worker } = await home.start("coder", ["sleep", "600"]);
  await home.perdure(["daemon", "stop"]);
  overwrite(store, 0, 100);
  await home.perdure(["ls"]);
  const anew = await home.perdure(["daemon", "start", "--new-store"]);
  expect(anew).toMatchObject({ code: 4, stderr: expect.stringContaining(worker.run?.id ?? "?") as string });
  home.killRun(worker.run?.id ?? "");
  expect(await home.perdure(["daemon", "start", "--new-store"])).toMatchObject({ code: 0 });
});

test.each([
  ["its header", 0, 100],
  ["the page of the schema", 100, 3000],
  ["everything but its first page", 4096, 1_000_000],
])("a store with %s overwritten is set aside, and nothing starts empty in silence", async (_what, from, bytes) => {
  for (const name of ["coder", "planner", "reviewer"]) await home.perdure(["run", name, "--", "true"]);
  await home.perdure(["daemon", "stop"]);
  overwrite(store, from, bytes);
  const damaged = readFileSync(store);

  const first = await home.json<{ error?: ErrorBody }>(["ls"]);
  const second = await home.perdure(["ls"]);
  const claimed = await home.perdure(["run", "coder", "--", "true"]);

  const [aside = "nowhere"] = setAside();
  expect(first.error).toMatchObject({ code: "damaged", message: expect.stringContaining(aside) as string });
  expect(first.error?.hint).toContain("perdure daemon start --new-store");
  expect(second).toMatchObject({ code: 7, stderr: expect.stringContaining(aside) as string });
  expect(claimed.code).toBe(7);
  expect(existsSync(store)).toBe(false);

  const anew = await home.perdure(["daemon", "start", "--new-store"]);
  expect(anew.code === 0 ? "" : anew.stderr).toBe("");
  expect(await home.json(["ls", "--all"])).toMatchObject({ workers: [] });
  expect(readFileSync(aside).equals(damaged)).toBe(true);
});

test.each([
  ["workers SET command", ["show", "coder"]],
  ["events SET data", ["events"]],
])("%s that holds no JSON any more is damage: the file is set aside, and nothing is guessed", async (column, args) => {
  await home.perdure(["run", "coder", "--", "true"]);
  await home.perdure(["daemon", "stop"]);
  const database = new DatabaseSync(store);
  database.exec(`UPDATE ${column} = 'not JSON'`);
  database.close();
  const { error } = await home.json<{ error?: ErrorBody }>(args);
  expect(error?.code).toBe("damaged");
  expect(setAside()).toHaveLength(1);
});

test.each([
  ["workers", ["ls"]],
  ["projects", ["ls"]],
  ["runs", ["history", "coder"]],
  ["events", ["events"]],
])("damage of %s in a store that was closed well is told as damage, and the file is set aside", async (table, args) => {
  await home.perdure(["run", "coder", "--", "true"]);
  await home.perdure(["daemon", "stop"]);
  overwrite(store, pageOf(table), 4096);

  const { error } = await home.json<{ error?: ErrorBody }>(args);

  expect.soft(error?.code, "at worst the daemon leaves over it").toMatch(/^(damaged|unavailable)$/);
  await expect.poll(() => home.perdure(args), { timeout: 10_000 }).toMatchObject({ code: 7 });
  expect(setAside()).toHaveLength(1);
});

test("damage that only a check finds stops the daemon after an unclean end, and the file is set aside", async () => {
  for (const name of ["coder", "planner", "reviewer"]) await home.perdure(["run", name, "--", "true"]);
  await home.perdure(["daemon", "stop"]);
  const db = new DatabaseSync(store);
  db.exec("UPDATE meta SET value = 0 WHERE key = 'clean'");
  db.close();
  overwrite(store, pageOf("events"), 4096);

  await home.perdure(["ls"]);
  await expect.poll(() => home.perdure(["ls"]), { timeout: 10_000 }).toMatchObject({ code: 7 });
  expect(setAside()).toHaveLength(1);
  expect(await home.perdure(["doctor"])).toMatchObject({ code: 5 });
});

test("a store of a newer schema is refused with exit 7 and left exactly as it is", async () => {
  await home.perdure(["run", "coder", "--", "true"]);
  await home.perdure(["daemon", "stop"]);
  const db = new DatabaseSync(store);
  db.exec("PRAGMA user_version = 99");
  db.close();
  const before = readFileSync(store);

  const { error } = await home.json<{ error: ErrorBody }>(["ls"]);
  expect(error).toMatchObject({ code: "version", message: expect.stringContaining("schema 99") as string });
  expect(await home.perdure(["run", "coder", "--", "true"])).toMatchObject({ code: 7 });
  expect(readFileSync(store).equals(before)).toBe(true);
});

test("a stale generation changes nothing: every write is fenced", async () => {
  const { connectToDaemon } = await import("../../../src/client/connect.ts");
  const { worker } = await home.start("coder", ["sleep", "600"]);
  const client = await connectToDaemon({ env: home.env });
  const run = worker.run?.id ?? "";
  const token = "x".repeat(43);
  await expect(client.call("release", { run, generation: 0, token })).rejects.toMatchObject({ code: "stale" });
  await expect(client.call("release", { run: "vm.api.coder.1", generation: 1, token })).rejects.toMatchObject({
    code: "stale",
  });
  // Right run, right generation, somebody else's token: whoever reads `ls` must not be able to free a name.
  const stranger = client.call("release", { run, generation: worker.generation, token });
  await expect(stranger).rejects.toMatchObject({ code: "refused" });
  client.close();
  expect(await home.until("coder", () => true)).toMatchObject({ state: "running", run: worker.run });
});

/** The stores that were moved out of the way. */
function setAside(): string[] {
  const names = readdirSync(home.state).filter((name) => name.startsWith("perdure.db.damaged-"));
  return names.filter((name) => !/-(wal|shm)$/.test(name)).map((name) => join(home.state, name));
}

function pageOf(table: string): number {
  const db = new DatabaseSync(store, { readOnly: true });
  const root = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(table)?.rootpage;
  db.close();
  return (Number(root) - 1) * 4096;
}

function overwrite(file: string, from: number, bytes: number): void {
  const fd = openSync(file, "r+");
  const length = Math.min(bytes, statSync(file).size - from);
  writeSync(fd, Buffer.alloc(length, 0xa5), 0, length, from);
  closeSync(fd);
}

/** Runs a line as a person would paste it, with `perdure` on PATH. */
function shell(line: string): Promise<Finished> {
  const bin = join(home.dir, "bin");
  mkdirSync(bin);
  symlinkSync(BIN, join(bin, "perdure"));
  const env = { ...home.env, PATH: `${bin}:${home.env.PATH}` };
  return finish(spawn("/bin/sh", ["-c", line], { cwd: home.project, env }));
}
