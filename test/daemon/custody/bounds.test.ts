import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { custodyToDrop, setCustody } from "../../../src/store/custody.ts";
import type { Db } from "../../../src/store/db.ts";
import { insertProject } from "../../../src/store/projects.ts";
import { openStore } from "../../../src/store/open.ts";
import { insertSaved, setSavedSession } from "../../../src/store/saved.ts";
import { bindSession, insertSession } from "../../../src/store/conversations.ts";
import { insertWorker } from "../../../src/store/workers.ts";

let folder: string;
let db: Db;
let worker: number;
let project: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perdure-custody-"));
  db = openStore(join(folder, "perdure.db")).db;
  project = insertProject(db, { slug: "api", slug_key: "api", identity: "/api", root: "/api", created_ms: 0 });
  worker = insertWorker(db, { project_id: project, name: "coder", name_key: "coder", created_ms: 0, ephemeral: 0 });
});
afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

function copyOf(id: string, bytes: number, keptMs: number): number {
  const session = insertSession(db, {
    worker_id: worker,
    vendor: "scripted",
    vendor_id: id,
    config_dir: "/c",
    config_variables: "{}",
    launch_cwd: "/api",
    provenance: "assigned",
    rotated_from: null,
    forked_from: null,
    created_ms: 0,
  });
  const source = { source_bytes: bytes, source_changed: "" };
  setCustody(db, { session_id: session, bytes, sha256: "", kept_ms: keptMs, ...source });
  return session;
}

test("copies go by age and, beyond the room there is, oldest first; never one that is needed", () => {
  const ancient = copyOf("ancient", 10, 1);
  const saved = copyOf("saved", 10, 2);
  const older = copyOf("older", 10, 100);
  const newer = copyOf("newer", 10, 200);
  const current = copyOf("current", 10, 3);
  bindSession(db, worker, current);
  const row = { project_id: project, name: "friday", name_key: "friday", created_ms: 0, updated_ms: 0 };
  setSavedSession(db, insertSaved(db, row), worker, saved);

  expect(custodyToDrop(db, 50, 1_000)).toEqual([ancient]);
  expect(custodyToDrop(db, 0, 50)).toEqual([]);
  expect(custodyToDrop(db, 0, 40)).toEqual([ancient]);
  expect(custodyToDrop(db, 0, 30)).toEqual([ancient, older]);
  expect(custodyToDrop(db, 0, 0)).toEqual([ancient, older, newer]);
});
