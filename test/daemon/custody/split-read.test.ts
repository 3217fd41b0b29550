import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { inspectTree, writeOwnBranch } from "../../../src/daemon/custody/split.ts";
import { READ_CHUNK_BYTES } from "../../../src/limits/index.ts";
import { MIB } from "../../../src/limits/units.ts";
import { statePaths } from "../../../src/state/paths.ts";
import { conversationById, insertConversation, type Conversation } from "../../../src/store/conversations.ts";
import type { Db } from "../../../src/store/db.ts";
import { openStore } from "../../../src/store/open.ts";
import { insertProject } from "../../../src/store/projects.ts";
import { insertWorker } from "../../../src/store/workers.ts";

let folder: string;
let db: Db;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perdure-split-"));
  db = openStore(join(folder, "perdure.db")).db;
});
afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

/** A transcript in which the worker has said "ours", and another process "theirs", each with a text of so many bytes. */
function splitTranscript(bytes: number): string {
  const file = join(folder, "transcript.jsonl");
  const said = (uuid: string, parentUuid: string | null): string =>
    JSON.stringify({
      uuid,
      parentUuid,
      type: "user",
      promptId: uuid,
      message: { content: uuid },
      padding: "x".repeat(bytes),
    });
  writeFileSync(file, [said("first", null), said("ours", "first"), said("theirs", "first")].join("\n"));
  return file;
}

function conversationIn(file: string | null): Conversation {
  const projectId = insertProject(db, { slug: "api", slugKey: "api", identity: "/api", root: "/api", createdMs: 0 });
  const workerId = insertWorker(db, { projectId, name: "coder", nameKey: "coder", createdMs: 0, ephemeral: false }).id;
  const row = { workerId, vendor: "claude", vendorId: "s", configDir: "/c", variables: {}, launchCwd: "/api" };
  const origin = { provenance: "assigned", rotatedFrom: null, forkedFrom: null, cleared: false, createdMs: 0 } as const;
  const found = conversationById(db, insertConversation(db, { ...row, ...origin }));
  if (found === null) throw new Error("no conversation");
  return { ...found, transcript: file, ownPrompts: ["first", "ours"] };
}

test("A5: others go on while a long transcript is looked through for a split", async () => {
  const conversation = conversationIn(null);
  const parts = 30;
  const file = splitTranscript((parts / 3) * READ_CHUNK_BYTES);

  let turns = 0;
  let counting = true;
  const count = (): void => {
    turns++;
    if (counting) setImmediate(count);
  };
  setImmediate(count);
  const { split } = await inspectTree({ db, paths: statePaths({ PERDURE_HOME: folder }) }, conversation, file);
  counting = false;
  expect(split).toMatchObject({ ours: { id: "ours" }, theirs: { id: "theirs" } });
  expect(turns).toBeGreaterThanOrEqual(parts);
});

test("A5: a split is found in a transcript of 40 MB, and the worker's own side is kept without holding it in memory", async () => {
  const file = splitTranscript(13 * MIB);
  appendFileSync(file, '\n{"half of a li');
  const services = { db, paths: statePaths({ PERDURE_HOME: folder }) };
  const conversation = conversationIn(file);
  const { split } = await inspectTree(services, conversation, file);
  expect(split).toMatchObject({ ours: { id: "ours" }, theirs: { id: "theirs" } });

  const own = join(folder, "own.jsonl");
  expect(await writeOwnBranch(services, conversation, own)).toBe(true);
  const [first = "", second = "", ...rest] = readFileSync(own, "utf8").split("\n");
  expect([first.slice(0, 15), second.slice(0, 14), ...rest]).toEqual([
    '{"uuid":"first"',
    '{"uuid":"ours"',
    '{"half of a li',
  ]);
  expect(await writeOwnBranch(services, { ...conversation, transcript: own }, `${own}.2`)).toBe(false);
  expect(existsSync(`${own}.2`)).toBe(false);
});
