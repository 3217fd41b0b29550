import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RecordedEnvironments } from "../../src/daemon/environments.ts";
import { Db } from "../../src/store/db.ts";
import { migrate } from "../../src/store/migrate.ts";
import { MIGRATIONS } from "../../src/store/migrations/index.ts";
import { closeStore, openStore } from "../../src/store/open.ts";
import { insertProject } from "../../src/store/projects.ts";
import { insertWorker, retireWorker, workerById, type Worker } from "../../src/store/workers.ts";

const WHOLE = {
  environment: { PATH: "/bin", ACME_KEY: "value-of-acme" },
  scope: "whole",
  own: { LOG: "debug" },
} as const;
const KNOWN = { environment: { PATH: "/usr/bin" }, scope: "known", own: { LOG: "info" } } as const;

let folder: string;
let database: string;
let files: string;
let db: Db;
let environments: RecordedEnvironments;
let commit: () => void;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perdure-environments-"));
  [database, files] = [join(folder, "perdure.db"), join(folder, "environments")];
  open();
});

afterEach(() => {
  closeStore(db);
  rmSync(folder, { recursive: true });
});

function open(): void {
  db = openStore(database).db;
  environments = new RecordedEnvironments({
    db,
    paths: { environments: files },
    onCommit: (listener) => {
      commit = listener;
    },
  });
}

function newWorker(name: string): number {
  const [known] = db.all<{ id: number }>("SELECT id FROM projects");
  const projectId =
    known?.id ?? insertProject(db, { slug: "api", slugKey: "api", identity: "/api", root: "/api", createdMs: 0 });
  return insertWorker(db, { projectId, name, nameKey: name, createdMs: 0, ephemeral: false }).id;
}

const worker = (id: number): Worker => workerById(db, id) as Worker;
const names = (): string[] => (existsSync(files) ? readdirSync(files) : []);

test("the same environment is one file, which its owner alone may read, and no value is in the store", () => {
  const [one, two, three] = [newWorker("one"), newWorker("two"), newWorker("three")];
  environments.record(one, WHOLE);
  environments.record(two, { ...WHOLE, environment: { ACME_KEY: "value-of-acme", PATH: "/bin" } });
  environments.record(three, { ...WHOLE, own: {} });
  expect(environments.of(worker(two))).toEqual({ PATH: "/bin", ACME_KEY: "value-of-acme", LOG: "debug" });
  expect(names()).toHaveLength(2);
  expect(statSync(files).mode & 0o777).toBe(0o700);
  for (const name of names()) expect(statSync(join(files, name)).mode & 0o777).toBe(0o600);
  expect(readFileSync(database).includes("value-of-acme")).toBe(false);
  expect(readFileSync(`${database}-wal`).includes("value-of-acme")).toBe(false);
});

test("what a script knows never replaces what a terminal has given; another terminal does, and so does less that is chosen", () => {
  const id = newWorker("coder");
  environments.record(id, KNOWN);
  expect(environments.of(worker(id))).toEqual({ PATH: "/usr/bin", LOG: "info" });
  environments.record(id, WHOLE);
  environments.record(id, KNOWN);
  const kept = { PATH: "/bin", ACME_KEY: "value-of-acme", LOG: "info" };
  expect(environments.of(worker(id)), "only the variables of its entry follow the file").toEqual(kept);
  expect(environments.forStart(worker(id), KNOWN)).toMatchObject({ environment: WHOLE.environment, scope: "whole" });
  environments.record(id, { environment: { PATH: "/other" }, scope: "whole" });
  expect(environments.of(worker(id))).toEqual({ PATH: "/other", LOG: "info" });
  environments.record(id, { environment: { PATH: "/less" }, scope: "chosen" });
  environments.record(id, KNOWN);
  expect(environments.of(worker(id))).toEqual({ PATH: "/usr/bin", LOG: "info" });
});

test("a file goes when no worker needs it any more, and not before the change is on disk", () => {
  const [one, two] = [newWorker("one"), newWorker("two")];
  environments.record(one, WHOLE);
  environments.copy(worker(one), two);
  const [shared = ""] = names();
  environments.record(one, KNOWN);
  environments.record(one, { ...WHOLE, environment: { PATH: "/new" } });
  expect(names()).toContain(shared);
  commit();
  expect(names()).toHaveLength(2);
  retireWorker(db, two, 1);
  environments.sweepAfterCommit();
  expect(names()).toContain(shared);
  commit();
  expect(names()).not.toContain(shared);
  expect(environments.of(worker(one)).PATH).toBe("/new");
});

test.each([
  ["is gone", (file: string): void => rmSync(file)],
  ["was changed", (file: string): void => writeFileSync(file, '{"variables":{"PATH":"/evil"},"own":{}}')],
  ["was emptied", (file: string): void => writeFileSync(file, "")],
])("no start goes without an environment whose file %s, and the way out is said", (_what, harm) => {
  const id = newWorker("coder");
  environments.record(id, WHOLE);
  harm(join(files, names()[0] ?? ""));
  closeStore(db);
  open();
  expect(environments.isLost(worker(id))).toBe(true);
  expect(environments.of(worker(id))).toEqual({});
  const lost = expect.objectContaining({ code: "refused", hint: expect.stringContaining("perdure run coder") });
  expect(() => environments.require(worker(id))).toThrow(lost);
  expect(() => environments.forStart(worker(id), KNOWN), "a script has less than what is lost").toThrow(lost);
  environments.record(id, KNOWN);
  expect(environments.isLost(worker(id))).toBe(true);
  environments.record(id, WHOLE);
  expect(environments.require(worker(id))).toEqual(WHOLE);
});

test("a worker for which nothing was recorded has no file and is not lost", () => {
  const id = newWorker("coder");
  environments.record(id, { environment: {} });
  expect([names(), environments.isLost(worker(id)), environments.of(worker(id))]).toEqual([[], false, {}]);
});

test("what an earlier version recorded in the store is moved out of every page of it, also of free ones and of the log", () => {
  closeStore(db);
  rmSync(database);
  const old = new Db(database);
  old.exec("PRAGMA journal_mode = WAL");
  migrate(old, MIGRATIONS.slice(0, 17));
  old.exec(
    "INSERT INTO projects (id, slug, slug_key, identity, root, created_ms) VALUES (1, 'api', 'api', '/', '/', 0)",
  );
  const insert = (id: number): void =>
    void old.run(
      "INSERT INTO workers (id, uid, project_id, name, name_key, created_ms) VALUES (?, ?, 1, ?, ?, 0)",
      id,
      id,
      id,
      id,
    );
  const recorded = (value: string): string => JSON.stringify({ PATH: "/bin", ACME_KEY: value.repeat(300) });
  for (let id = 1; id <= 40; id++) {
    insert(id);
    old.run("UPDATE workers SET environment = ? WHERE id = ?", recorded(`earlier-${id};`), id);
    old.run("UPDATE workers SET environment = ? WHERE id = ?", recorded(id % 2 === 0 ? "even;" : "odd;"), id);
  }
  old.exec("UPDATE workers SET environment = '{}' WHERE id = 40");
  old.close();
  expect(readFileSync(database).includes("earlier-7;")).toBe(true);

  open();
  environments.takeOutOfStore();
  environments.takeOutOfStore();
  expect(names()).toHaveLength(2);
  expect(environments.of(worker(1))).toEqual(JSON.parse(recorded("odd;")));
  expect(worker(2).environmentScope).toBe("known");
  expect([worker(40).environmentFile, environments.isLost(worker(40))]).toEqual([null, false]);
  const pages = Buffer.concat(["", "-wal"].map((suffix) => readFileSync(`${database}${suffix}`)));
  const left = ["earlier-", "even;", "odd;", "ACME_KEY"].filter((text) => pages.toString("latin1").includes(text));
  expect(left).toEqual([]);
  expect(db.all("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
});
