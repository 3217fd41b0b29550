import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { Db } from "../../../src/store/db.ts";
import { check } from "../../support/check.ts";

/** Checks that every acknowledged message is in the store as it was sent, over a connection of our own. */
export function checkKept(state: string, acked: ReadonlyMap<string, string>, when: string): void {
  const kept = keptMail(state);
  for (const [id, body] of acked) {
    check(kept.has(id), () => `${when}: ${id} was acknowledged and is not there`);
    check(kept.get(id) === body, () => `${when}: ${id} was acknowledged with another body than it has now`);
  }
}

/** The bodies of all messages in the store, by id. */
export function keptMail(state: string): Map<string, string> {
  const db = new Db(join(state, "perdure.db"), { readOnly: true });
  try {
    const rows = db.all<{ id: string; body: string }>("SELECT id, body FROM messages");
    return new Map(rows.map(({ id, body }) => [id, body]));
  } finally {
    db.close();
  }
}

export function checkIntegrity(state: string, when: string): void {
  const db = new Db(join(state, "perdure.db"), { readOnly: true });
  try {
    const rows = db.all<{ integrity_check: string }>("PRAGMA integrity_check");
    const problems = rows.map(({ integrity_check }) => integrity_check).join("; ");
    check(problems === "ok", () => `${when}: integrity_check says ${problems}`);
  } finally {
    db.close();
  }
}

const SALT_AT = 16;
const HEADER_BYTES = 32;

/** The salt of SQLite's write-ahead log, which differs for every log it begins; empty when there is none. */
export function saltOfLog(state: string): string {
  const fd = openSync(join(state, "perdure.db-wal"), "r");
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    const bytes = readSync(fd, header, 0, HEADER_BYTES, 0);
    return header.subarray(SALT_AT, Math.min(bytes, SALT_AT + 8)).toString("hex");
  } finally {
    closeSync(fd);
  }
}
