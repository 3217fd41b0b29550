import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { custodyToDrop, setCustody } from "../../../src/store/custody.ts";
import type { Db } from "../../../src/store/db.ts";
import { insertProject } from "../../../src/store/projects.ts";
import { openStore } from "../../../src/store/open.ts";
import { insertSaved, setSavedConversation } from "../../../src/store/saved.ts";
import { bindConversation, insertConversation } from "../../../src/store/conversations.ts";
import { insertWorker } from "../../../src/store/workers.ts";

let folder: string;
let db: Db;
let worker: number;
let project: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perdure-custody-"));
  db = openStore(join(folder, "perdure.db")).db;
  project = insertProject(db, { slug: "api", slugKey: "api", identity: "/api", root: "/api", createdMs: 0 });
  worker = insertWorker(db, { projectId: project, name: "coder", nameKey: "coder", createdMs: 0, ephemeral: false }).id;
});
afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

function copyOf(id: string, bytes: number, keptMs: number): number {
  const session = insertConversation(db, {
    workerId: worker,
    vendor: "scripted",
    vendorId: id,
    configDir: "/c",
    variables: {},
    launchCwd: "/api",
    provenance: "assigned",
    rotatedFrom: null,
    forkedFrom: null,
    cleared: false,
    createdMs: 0,
  });
  const source = { sourceBytes: bytes, sourceChanged: "" };
  setCustody(db, { conversationId: session, bytes, sha256: "", keptMs, ...source });
  return session;
}

test("copies go by age and, beyond the room there is, oldest first; never one that is needed", () => {
  const ancient = copyOf("ancient", 10, 1);
  const saved = copyOf("saved", 10, 2);
  const older = copyOf("older", 10, 100);
  const newer = copyOf("newer", 10, 200);
  const current = copyOf("current", 10, 3);
  bindConversation(db, worker, current);
  const row = { projectId: project, name: "friday", nameKey: "friday", createdMs: 0, updatedMs: 0 };
  setSavedConversation(db, insertSaved(db, row), worker, saved);

  expect(custodyToDrop(db, 50, 1_000)).toEqual([ancient]);
  expect(custodyToDrop(db, 0, 50)).toEqual([]);
  expect(custodyToDrop(db, 0, 40)).toEqual([ancient]);
  expect(custodyToDrop(db, 0, 30)).toEqual([ancient, older]);
  expect(custodyToDrop(db, 0, 0)).toEqual([ancient, older, newer]);
});
