import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { COMMIT_CHANGES_MAX } from "../../src/limits/index.ts";
import { Db } from "../../src/store/db.ts";
import type { FailureKind } from "../../src/store/failure.ts";
import { Writer } from "../../src/store/writer.ts";

let folder: string;
let db: Db;
let writer: Writer;
let commits: number;
let failures: FailureKind[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perdure-writer-"));
  db = new Db(join(folder, "test.db"));
  db.exec("CREATE TABLE notes (text TEXT UNIQUE) STRICT");
  commits = 0;
  failures = [];
  writer = new Writer(db, { onCommit: () => commits++, onFailure: (kind) => failures.push(kind) });
});
afterEach(() => {
  db.close();
  rmSync(folder, { recursive: true });
});

const add = (text: string): number => db.run("INSERT INTO notes VALUES (?)", text);
const kept = (): string[] => db.all<{ text: string }>("SELECT text FROM notes ORDER BY text").map(({ text }) => text);

test("all writes of one turn share one commit", async () => {
  await Promise.all(["a", "b", "c"].map((text) => writer.write(() => add(text))));
  expect({ commits, kept: kept() }).toEqual({ commits: 1, kept: ["a", "b", "c"] });
});

test("a write that throws takes nothing with it, and leaves nothing of itself", async () => {
  const outcomes = await Promise.allSettled([
    writer.write(() => add("a")),
    writer.write(() => {
      add("half");
      throw new Error("no");
    }),
    writer.write(() => add("a")),
    writer.write(() => add("b")),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
  expect({ commits, kept: kept(), failures }).toEqual({ commits: 1, kept: ["a", "b"], failures: [] });
});

test("a checked write that refuses first takes nothing with it", async () => {
  const outcomes = await Promise.allSettled([
    writer.writeChecked(() => add("a")),
    writer.writeChecked(() => {
      throw new Error("no");
    }),
    writer.writeChecked(() => add("b")),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect({ commits, kept: kept(), failures }).toEqual({ commits: 1, kept: ["a", "b"], failures: [] });
});

test.each<[how: string, change: () => unknown]>([
  ["a statement", () => add("half")],
  ["a script", () => db.exec("INSERT INTO notes VALUES ('half')")],
  ["a count", () => db.mailboxCounters.add(1, 7, 1, 10)],
])(
  "a checked write that refuses after %s is an error of ours, and the others are to try again",
  async (_how, change) => {
    const outcomes = await Promise.allSettled([
      writer.writeChecked(() => add("a")),
      writer.writeChecked(() => {
        change();
        throw new Error("too late");
      }),
      writer.write(() => add("b")),
    ]);
    const again = { status: "rejected", reason: { code: "unavailable", retryable: true } };
    expect(outcomes).toMatchObject([
      again,
      {
        status: "rejected",
        reason: { message: expect.stringMatching(/checked change refused after.*too late/) as string },
      },
      again,
    ]);
    expect({ commits, kept: kept(), failures }).toEqual({ commits: 0, kept: [], failures: [] });
    await writer.writeChecked(() => add("later"));
    expect(kept()).toEqual(["later"]);
  },
);

test("more writes than share a commit are committed in several, in order", async () => {
  const order: number[] = [];
  const many = Array.from({ length: 2 * COMMIT_CHANGES_MAX + 1 }, (_, n) =>
    writer.write(() => add(String(n))).then(() => order.push(n)),
  );
  await Promise.all(many);
  expect(commits).toBe(3);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(kept()).toHaveLength(many.length);
});

test("a promise resolves only after COMMIT: another connection sees the row", async () => {
  await writer.write(() => add("a"));
  const other = new Db(join(folder, "test.db"), { readOnly: true });
  expect(other.all("SELECT text FROM notes")).toEqual([{ text: "a" }]);
  other.close();
});

test("what a write returns is what its promise gives", async () => {
  expect(await writer.write(() => ({ rows: add("a") }))).toEqual({ rows: 1 });
});

test("a commit that fails rejects every write of it, and nothing is kept", async () => {
  // A deferred foreign key is checked by COMMIT itself.
  db.exec(
    "PRAGMA foreign_keys = ON; CREATE TABLE child (parent TEXT REFERENCES notes (text) DEFERRABLE INITIALLY DEFERRED) STRICT",
  );
  const outcomes = await Promise.allSettled([
    writer.write(() => add("a")),
    writer.write(() => db.run("INSERT INTO child VALUES ('nobody')")),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect({ commits, kept: kept() }).toEqual({ commits: 0, kept: [] });
  await writer.write(() => add("later"));
  expect(kept()).toEqual(["later"]);
});

test("a full disk is told as such to everybody, nothing is kept, and writing goes on when there is space", async () => {
  const pages = db.one<{ page_count: number }>("PRAGMA page_count")?.page_count ?? 0;
  db.exec(`PRAGMA max_page_count = ${pages + 1}`);
  const outcomes = await Promise.allSettled([
    writer.write(() => add("small")),
    writer.write(() => add("x".repeat(100_000))),
    writer.write(() => add("other")),
  ]);
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ status: "rejected", reason: { code: "disk-full", retryable: true } });
  expect({ kept: kept(), failures }).toEqual({ kept: [], failures: ["disk-full"] });

  db.exec("PRAGMA max_page_count = 1000000");
  await writer.write(() => add("again"));
  expect(kept()).toEqual(["again"]);
});

test("a write that a used-up quota refuses is a full disk; one that fails otherwise is an I/O error", async () => {
  const refuse = (): never => {
    throw Object.assign(new Error("disk I/O error"), { code: "ERR_SQLITE_ERROR", errcode: 778 });
  };
  let isQuotaUsedUp = true;
  const onFailure = (kind: FailureKind): void => void failures.push(kind);
  const limited = new Writer(db, { onCommit: () => undefined, onFailure, isQuotaUsedUp: () => isQuotaUsedUp });
  await expect(limited.write(refuse)).rejects.toMatchObject({ code: "disk-full", retryable: true });
  await limited.write(() => add("again"));
  isQuotaUsedUp = false;
  await expect(limited.write(refuse)).rejects.toMatchObject({ code: "unavailable" });
  expect({ kept: kept(), failures }).toEqual({ kept: ["again"], failures: ["disk-full", "io"] });
});

test("closing commits what waits and takes nothing more", async () => {
  const waiting = writer.write(() => add("a"));
  writer.close();
  await waiting;
  await expect(writer.write(() => add("b"))).rejects.toThrow(/closed/);
  expect(kept()).toEqual(["a"]);
});
