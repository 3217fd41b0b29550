import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nextEpoch } from "../../src/core/epoch.ts";
import { EPOCHS_KEPT } from "../../src/limits/index.ts";
import { lastEpoch } from "../../src/store/epochs.ts";
import { readMeta } from "../../src/store/meta.ts";
import { closeStore, openStore } from "../../src/store/open.ts";
import { dropOldRows } from "../../src/store/retention.ts";
import { campaign, seeded } from "../support/campaign.ts";
import { SimulatedMail, type MailTally } from "./07-mail-clocks.ts";
import { SimulatedDaemon, type Tally } from "./07-simulated-daemon.ts";
import { check, whole } from "../support/check.ts";

interface Size {
  schedules: number;
  steps: number;
}

const HOUR_MS = 3_600_000;
const TEN_YEARS_MS = 10 * 365 * 24 * HOUR_MS;
const JUMPS_MS = [HOUR_MS, -HOUR_MS, TEN_YEARS_MS, -TEN_YEARS_MS];

export const clockJumps = campaign<Size>({
  number: 7,
  promise: "clock jumps are harmless",
  reduced: { schedules: 1_000, steps: 150 },
  full: { schedules: 10_000, steps: 150 },
  async run(size, seed) {
    const tally: Tally = { runs: 0, expired: 0, jumps: 0, stalls: 0, restarts: 0, forgotten: 0 };
    for (let schedule = 0; schedule < size.schedules; schedule++) {
      const daemon = new SimulatedDaemon(seeded(seed + schedule), tally);
      for (let step = 0; step < size.steps; step++) daemon.step(JUMPS_MS);
    }
    const mail = await playMail(seeded(seed), size.schedules / 2);
    const epochsForgotten = forgetInARealStore(seeded(seed));
    return {
      schedules: size.schedules,
      ...tally,
      ...mail,
      epochsForgotten,
      earlyExpiries: 0,
      stuck: 0,
      idsRepeated: 0,
    };
  },
});

async function playMail(random: () => number, steps: number): Promise<MailTally> {
  const tally: MailTally = { sent: 0, offers: 0, mailExpired: 0, returned: 0 };
  const mail = new SimulatedMail(random, tally);
  try {
    for (let step = 0; step < steps; step++) await mail.step(JUMPS_MS);
  } finally {
    mail.close();
  }
  check(tally.mailExpired > 0 && tally.returned > 0, `nothing happened: ${JSON.stringify(tally)}`);
  return tally;
}

/** The floor as the store keeps it: more names than are remembered, then ids for those that were forgotten. */
function forgetInARealStore(random: () => number): number {
  const folder = mkdtempSync(join(tmpdir(), "perdure-epochs-"));
  const { db } = openStore(join(folder, "perdure.db"));
  try {
    const extra = 500 + whole(random, 500);
    const rows = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${EPOCHS_KEPT + extra})`;
    db.exec(`${rows} INSERT INTO epochs SELECT 'vm.api.w' || i, 1700000000 + (i * 7919) % 1000003 FROM n`);
    const before = new Map(
      db.all<{ key: string; last: number }>("SELECT * FROM epochs").map(({ key, last }) => [key, last]),
    );
    dropOldRows(db, Date.now());
    const forgotten = [...before.keys()].filter((key) => lastEpoch(db, key) === null);
    check(forgotten.length >= extra, `only ${forgotten.length} epochs of ${extra} were forgotten`);
    const floor = readMeta(db, "epoch_floor") ?? 0;
    for (const key of forgotten) {
      // A clock that went back ten years before the name came back.
      const again = nextEpoch(1_500_000_000_000, lastEpoch(db, key), floor);
      check(again > (before.get(key) ?? 0), `${key} could repeat ${before.get(key)}: ${again}`);
    }
    return forgotten.length;
  } finally {
    closeStore(db);
    rmSync(folder, { recursive: true, force: true });
  }
}
