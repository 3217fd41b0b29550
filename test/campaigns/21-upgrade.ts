import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { asPerdureError } from "../../src/protocol/errors.ts";
import { Db } from "../../src/store/db.ts";
import { schemaVersion } from "../../src/store/migrate.ts";
import { closeStore, openStore } from "../../src/store/open.ts";
import { campaign, seeded } from "../support/campaign.ts";
import type { Home } from "../support/home.ts";
import { check } from "../support/check.ts";
import { inHome } from "../support/in-home.ts";
import { SYNTHETIC } from "./support/synthetic-migrations.ts";

interface Size {
  kills: number;
  rows: number;
}

const MIGRATOR = resolve(import.meta.dirname, "support/migration-process.ts");

export const upgrade = campaign<Size>({
  number: 21,
  promise: "an upgrade keeps the data",
  reduced: { kills: 15, rows: 1_500 },
  full: { kills: 100, rows: 20_000 },
  async run(size, seed) {
    const folder = mkdtempSync(join(tmpdir(), "perdure-upgrade-"));
    try {
      const versions = makeVersions(folder, size.rows);
      const figures = await killUpgrades(folder, versions, size, seeded(seed));
      for (let known = 1; known < SYNTHETIC.length; known++) checkOlderRefuses(folder, known);
      await inHome((home) => checkDaemonRefuses(home, folder));
      return { ...figures, rows: versions[0]?.rows ?? 0, rowsLost: 0, olderRefused: SYNTHETIC.length - 1 };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
});

/** The content of a store in one version, upgraded there without any accident. */
interface Version {
  content: string;
  rows: number;
}

function makeVersions(folder: string, rows: number): Version[] {
  const file = join(folder, "first.db");
  const versions = SYNTHETIC.map((_, index): Version => {
    const { db } = openStore(file, { migrations: SYNTHETIC.slice(0, index + 1) });
    if (index === 0) fill(db, rows);
    const version = contentOf(db);
    closeStore(db);
    if (index === 0) copyFileSync(file, join(folder, "start.db"));
    return version;
  });
  copyFileSync(file, join(folder, "newest.db"));
  return versions;
}

function fill(db: Db, rows: number): void {
  const numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})`;
  db.exec(`BEGIN;
    INSERT INTO projects VALUES (1, 'api', 'api', '/srv/api', '/srv/api', 1);
    ${numbers} INSERT INTO workers (id, project_id, name, name_key, created_ms) SELECT i, 1, 'W' || i, 'w' || i, i FROM n;
    ${numbers} INSERT INTO runs (id, worker_id, generation, kind, token_hash, pid, process_started, boot_id, started_ms)
      SELECT 'vm.api.w' || i || '.1', i, 1, 'run', 't' || i, i, 's', 'b', i FROM n;
    ${numbers} INSERT INTO events (at_ms, type, worker_id, data) SELECT i, 'run.claimed', i, '{"i":' || i || '}' FROM n;
    ${numbers} INSERT INTO tombstones SELECT 1, 'old' || i, 'old' || i, i, i FROM n;
    COMMIT`);
}

/**
 * Schema and every row of every table, as one hash; but for `meta`, where each opening leaves its mark, and for uids, which are drawn
 * at random by the upgrade.
 */
function contentOf(db: Db): Version {
  const hash = createHash("sha256");
  const schema = db.all<{ name: string; type: string; sql: string | null }>(
    "SELECT name, type, sql FROM sqlite_schema ORDER BY name",
  );
  hash.update(JSON.stringify(schema));
  let rows = 0;
  for (const { name } of schema.filter(({ name: each, type }) => type === "table" && !/^(meta|sqlite_)/.test(each))) {
    const all = db.all<{ uid?: string }>(`SELECT * FROM ${name} ORDER BY 1, 2`);
    rows += all.length;
    hash.update(name + JSON.stringify(withoutUids(name, all)));
  }
  return { content: hash.digest("hex"), rows };
}

function withoutUids(table: string, rows: readonly { uid?: string }[]): object[] {
  const uids = rows.flatMap(({ uid }) => (uid === undefined ? [] : [uid]));
  check(new Set(uids).size === uids.length, `${table} has a uid twice`);
  check(
    uids.every((uid) => /^[0-9a-f]{32}$/.test(uid)),
    `${table} has a row without a uid`,
  );
  return rows.map(({ uid: _drawn, ...row }) => row);
}

/** The same store is upgraded again after each kill until it is through; then the next one begins. */
async function killUpgrades(
  folder: string,
  versions: Version[],
  size: Size,
  random: () => number,
): Promise<Record<string, number>> {
  const file = join(folder, "victim.db");
  const seen = new Set<number>();
  let kills = 0;
  let finished = 0;
  copyFileSync(join(folder, "start.db"), file);
  const wholeMs = (await upgradeOnce(file, null)) ?? 0;
  while (kills < size.kills) {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true });
    copyFileSync(join(folder, "start.db"), file);
    for (let done = false; !done;) {
      done = (await upgradeOnce(file, kills < size.kills ? random() * wholeMs : null)) !== null;
      if (!done) kills++;
      seen.add(checkWhole(file, versions, done));
    }
    finished++;
  }
  return { kills, storesFinished: finished, versionsSeen: seen.size, upgradeMs: Math.round(wholeMs) };
}

/** Returns how long it took, or null when it was killed first. */
async function upgradeOnce(file: string, killAfterMs: number | null): Promise<number | null> {
  const child = spawn(process.execPath, [MIGRATOR, file], { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close") as Promise<[number | null, string | null]>;
  await once(child.stdout, "data");
  const startedAt = performance.now();
  // Here waiting is the experiment: the moment of death is what the seed decides.
  if (killAfterMs !== null) void sleep(killAfterMs).then(() => child.kill("SIGKILL"));
  const [code, signal] = await closed;
  check(code === 0 || signal === "SIGKILL", `the upgrade ended with ${code ?? signal}`);
  return code === 0 ? performance.now() - startedAt : null;
}

function checkWhole(file: string, versions: Version[], done: boolean): number {
  const db = new Db(file);
  try {
    const version = schemaVersion(db);
    check(!done || version === SYNTHETIC.length, `an upgrade that said "done" left version ${version}`);
    const expected = versions[version - 1];
    const found = contentOf(db);
    check(found.rows === expected?.rows, `version ${version} has ${found.rows} rows, not ${expected?.rows}`);
    check(found.content === expected.content, `version ${version} is not whole`);
    const integrity = db.one<{ integrity_check: string }>("PRAGMA integrity_check");
    check(integrity?.integrity_check === "ok", () => `integrity_check: ${JSON.stringify(integrity)}`);
    return version;
  } finally {
    db.close();
  }
}

function checkOlderRefuses(folder: string, known: number): void {
  const file = join(folder, "newest.db");
  const before = hashOf(file);
  let code = "opened";
  try {
    closeStore(openStore(file, { migrations: SYNTHETIC.slice(0, known) }).db);
  } catch (error) {
    code = asPerdureError(error).code;
  }
  check(code === "version", `a program that knows ${known} versions: ${code}`);
  check(hashOf(file) === before, `a program that knows ${known} versions changed the newer store`);
}

/** The real program of today against a store of tomorrow. */
async function checkDaemonRefuses(home: Home, folder: string): Promise<void> {
  await home.perdure(["daemon", "start"]);
  await home.perdure(["daemon", "stop"]);
  const file = join(home.state, "perdure.db");
  copyFileSync(join(folder, "newest.db"), file);
  const before = hashOf(file);
  const { code, stdout } = await home.perdure(["ls", "--json"]);
  check(code === 7 && stdout.includes('"version"'), `ls on a newer store: ${code} ${stdout}`);
  check(hashOf(file) === before, "the daemon changed a newer store");
}

function hashOf(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
