import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { asRead, type Db } from "../../src/store/db.ts";
import { insertEvent, isNoRecordAfter, lastEventSeq } from "../../src/store/events.ts";
import { openStore } from "../../src/store/open.ts";
import { insertProject, moveProject, projectByIdentity } from "../../src/store/projects.ts";
import { Writer } from "../../src/store/writer.ts";
import { workerById, insertWorker } from "../../src/store/workers.ts";

// Rows that are cached, and counts that are written once a commit: after whatever went wrong they are what the store says.

let folder: string;
let db: Db;
let writer: Writer;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perdure-mind-"));
  ({ db } = openStore(join(folder, "perdure.db")));
  writer = new Writer(db, { onCommit: () => undefined, onFailure: () => undefined });
  insertProject(db, { slug: "api", slugKey: "api", identity: "/api", root: "/api", createdMs: 1 });
});
afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

const event = (type: string): void =>
  insertEvent(db, {
    atMs: 1,
    type,
    projectId: 1,
    workerId: null,
    runId: null,
    generation: null,
    data: "{}",
  });
const stored = (): unknown => db.one("SELECT messages, bytes FROM mailboxes WHERE project_id = 1 AND worker_id = 7");
const refuse = (): never => {
  throw new Error("no");
};

test("a cached row follows every change of its table", () => {
  expect(projectByIdentity(db, "/api")).toMatchObject({ root: "/api" });
  expect(projectByIdentity(db, "/moved")).toBeNull();
  moveProject(db, 1, "/moved", "/moved");
  expect(projectByIdentity(db, "/api")).toBeNull();
  expect(projectByIdentity(db, "/moved")).toMatchObject({ root: "/moved" });
});

test("however a statement is written, what it changes is read anew", () => {
  expect(projectByIdentity(db, "/api")).not.toBeNull();
  db.run("WITH moved (root) AS (VALUES ('/moved')) UPDATE projects SET root = (SELECT root FROM moved)");
  expect(projectByIdentity(db, "/api")).toMatchObject({ root: "/moved" });
});

test("a cached row follows what a trigger or a foreign key changes", () => {
  db.exec(`CREATE TRIGGER rooted AFTER INSERT ON events BEGIN UPDATE projects SET root = '/by-trigger'; END;
    CREATE TABLE parents (id INTEGER PRIMARY KEY) STRICT;
    CREATE TABLE children (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parents (id) ON DELETE SET NULL) STRICT;
    INSERT INTO parents VALUES (1); INSERT INTO children VALUES (1, 1)`);
  const child = (): unknown => db.cachedOne(asRead<object>, "SELECT parent FROM children WHERE id = ?", 1);
  expect([projectByIdentity(db, "/api")?.root, child()]).toEqual(["/api", { parent: 1 }]);
  event("mail.queued");
  db.run("DELETE FROM parents");
  expect([projectByIdentity(db, "/api")?.root, child()]).toEqual(["/by-trigger", { parent: null }]);
});

test("a cached row of two tables follows both", () => {
  const both = (): unknown =>
    db.cachedOne(asRead<object>, "SELECT root, (SELECT max(seq) FROM events) AS seq FROM projects WHERE id = ?", 1);
  expect(both()).toEqual({ root: "/api", seq: null });
  event("mail.queued");
  expect(both()).toEqual({ root: "/api", seq: 1 });
  moveProject(db, 1, "/moved", "/moved");
  expect(both()).toEqual({ root: "/moved", seq: 1 });
});

test("only what reads tables and changes nothing is cached", () => {
  expect(() => db.cachedOne(asRead<object>, "UPDATE projects SET root = '/x' RETURNING root")).toThrow(
    /not to be cached/,
  );
  expect(() => db.cachedOne(asRead<object>, "SELECT random()")).toThrow(/not to be cached/);
  expect(projectByIdentity(db, "/api")?.root).toBe("/api");
});

test("a cached row is everybody's, and nobody changes it", () => {
  const row = projectByIdentity(db, "/api");
  expect(() => {
    // @ts-expect-error -- the type says so, too
    if (row) row.root = "/mine";
  }).toThrow(TypeError);
});

test("so is what a cached worker holds", () => {
  const worker = workerById(
    db,
    insertWorker(db, { projectId: 1, name: "w", nameKey: "w", createdMs: 0, ephemeral: false }).id,
  );
  expect(() => {
    // @ts-expect-error -- the type says so, too
    if (worker) worker.lease.generation = 9;
  }).toThrow(TypeError);
});

test("what a change did that was rolled back is not cached", async () => {
  await expect(
    writer.write(() => {
      moveProject(db, 1, "/moved", "/moved");
      expect(projectByIdentity(db, "/moved")).not.toBeNull();
      event("worker.created");
      refuse();
    }),
  ).rejects.toThrow("no");
  expect(projectByIdentity(db, "/moved")).toBeNull();
  expect(projectByIdentity(db, "/api")).not.toBeNull();
  expect(lastEventSeq(db)).toBe(0);
});

test("the last event is known after each commit, and whether it was about something else than mail", async () => {
  await writer.write(() => event("worker.created"));
  expect([lastEventSeq(db), isNoRecordAfter(db, 0), isNoRecordAfter(db, 1)]).toEqual([1, false, true]);
  await writer.write(() => event("mail.queued"));
  expect([lastEventSeq(db), isNoRecordAfter(db, 1)]).toEqual([2, true]);
});

test("what is counted in a box is there within the change, and on disk with the commit", async () => {
  const add = (): void => {
    db.mailboxCounters.add(1, 7, 1, 10);
  };
  await Promise.all([writer.write(add), writer.writeChecked(add)]);
  expect([stored(), db.mailboxCounters.count(1, 7)]).toEqual([
    { messages: 2, bytes: 20 },
    { messages: 2, bytes: 20 },
  ]);
  await writer.write(() => {
    add();
    expect(db.mailboxCounters.count(1, 7)).toEqual({ messages: 3, bytes: 30 });
    db.mailboxCounters.add(1, 7, -2, -20);
  });
  expect([stored(), db.mailboxCounters.count(1, 7)]).toEqual([
    { messages: 1, bytes: 10 },
    { messages: 1, bytes: 10 },
  ]);
});

test("what a refused change counted is taken back, and nothing of the others", async () => {
  await Promise.allSettled([
    writer.write(() => db.mailboxCounters.add(1, 7, 1, 10)),
    writer.write(() => {
      db.mailboxCounters.add(1, 7, 5, 50);
      refuse();
    }),
    writer.write(() => db.mailboxCounters.add(1, 7, 1, 10)),
  ]);
  expect([stored(), db.mailboxCounters.count(1, 7)]).toEqual([
    { messages: 2, bytes: 20 },
    { messages: 2, bytes: 20 },
  ]);
});

test("a commit that is given up leaves nothing counted and nothing cached", async () => {
  const both = await Promise.allSettled([
    writer.write(() => {
      db.mailboxCounters.add(1, 7, 1, 10);
      moveProject(db, 1, "/moved", "/moved");
    }),
    // It said that it refuses before it changes anything, and does not.
    writer.writeChecked(() => {
      event("mail.queued");
      refuse();
    }),
  ]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect([stored(), db.mailboxCounters.count(1, 7)]).toEqual([null, { messages: 0, bytes: 0 }]);
  expect([projectByIdentity(db, "/api")?.root, lastEventSeq(db)]).toEqual(["/api", 0]);
});
