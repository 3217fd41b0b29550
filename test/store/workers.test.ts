import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Db } from "../../src/store/db.ts";
import { insertEvent } from "../../src/store/events.ts";
import { workersChanged } from "../../src/store/notices.ts";
import { openStore } from "../../src/store/open.ts";
import { insertProject } from "../../src/store/projects.ts";
import { insertWorker, peersOf, retireWorker, workerById, type Worker } from "../../src/store/workers.ts";

let folder: string;
let db: Db;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perdure-workers-"));
  ({ db } = openStore(join(folder, "perdure.db")));
  insertProject(db, { slug: "api", slugKey: "api", identity: "/api", root: "/api", createdMs: 1 });
});

afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

function newWorker(name: string, ephemeral = false): Worker {
  return insertWorker(db, { projectId: 1, name, nameKey: name.toLowerCase(), createdMs: 7, ephemeral });
}

test.each([false, true])("a new worker is what the store then says of it, ephemeral %s", (ephemeral) => {
  const made = newWorker("Coder", ephemeral);
  const stored = workerById(db, made.id);
  expect({ ...made }).toEqual({ ...stored });
  expect(made).toMatchObject({ name: "Coder", nameKey: "coder", createdMs: 7, ephemeral });
});

test("nobody is looked at for having been registered, nor for mail, but for all else", () => {
  const record = (workerId: number, type: string): void =>
    insertEvent(db, { atMs: 1, type, projectId: 1, workerId, runId: null, generation: null, data: "{}" });
  const [registered, mailed, up] = ["registered", "mailed", "up"].map((name) => newWorker(name).id);
  if (registered === undefined || mailed === undefined || up === undefined) throw new Error("not made");
  for (const workerId of [registered, mailed, up]) record(workerId, "worker.created");
  record(mailed, "mail.queued");
  record(up, "worker.up");
  expect(workersChanged(db, 0)).toEqual([up]);
});

test("a worker's peers are the lasting ones of its project, of which the first are named", () => {
  const [own, retired] = ["own", "gone"].map((name) => newWorker(name));
  if (own === undefined || retired === undefined) throw new Error("not made");
  expect(peersOf(db, own, 2)).toMatchObject({ first: [{ name: "gone" }], count: 1 });
  retireWorker(db, retired.id, 8);
  expect(peersOf(db, own, 2)).toEqual({ first: [], count: 0 });
  newWorker("passing", true);
  for (const name of ["c", "a", "b"]) newWorker(name);
  expect(peersOf(db, own, 2)).toMatchObject({ first: [{ name: "a" }, { name: "b" }], count: 3 });
});
