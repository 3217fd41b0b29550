import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { claims } from "./claiming.ts";
import { deliveries } from "./delivering.ts";
import { endings } from "./ending.ts";
import { fleets } from "./fleet.ts";
import { growths } from "./growth.ts";
import { hooks } from "./hooking.ts";
import { crowds, mails } from "./mailing.ts";
import { measure, type Group } from "./measure.ts";
import { idleDaemon, perWorker } from "./memory.ts";
import { print, verdictOf, type Row } from "./report.ts";
import { resumes } from "./resuming.ts";
import { coldStarts } from "./starting.ts";
import { connectedTools } from "./tools.ts";
import { turns } from "./turning.ts";
import { writeFigures, writeGrowth } from "./write.ts";

// npm run bench -- [--only mail,fleet] [--write] [--growth]
// Floors and ours, taken in turn in one run: trust the ratios, not the milliseconds.

const GROUPS: readonly Group[] = [
  { name: "idle", run: idleDaemon },
  { name: "start", run: coldStarts },
  { name: "claim", run: claims },
  { name: "worker", run: perWorker },
  { name: "tools", run: connectedTools },
  { name: "resume", run: resumes },
  { name: "end", run: endings },
  { name: "fleet", run: fleets },
  { name: "hook", run: hooks },
  { name: "mail", run: mails },
  { name: "crowd", run: crowds },
  // With the vendors' real programs, which takes minutes: only when it is asked for by its name.
  { name: "delivery", run: deliveries, onlyByName: true },
  { name: "turn", run: turns, onlyByName: true },
];

const { values } = parseArgs({
  options: { only: { type: "string" }, write: { type: "boolean" }, growth: { type: "boolean" } },
});
console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? "?"}\n`);
if (values.growth) await benchGrowth();
else await benchFigures();

async function benchFigures(): Promise<void> {
  const only = values.only?.split(",");
  const rows: Row[] = [];
  for (const group of GROUPS) {
    if (!(only?.includes(group.name) ?? !group.onlyByName)) continue;
    const since = performance.now();
    rows.push(...(await measure(group)));
    console.error(`${group.name}: ${((performance.now() - since) / 1000).toFixed(0)} s`);
  }
  print(rows);
  if (values.write) writeFigures(rows);
  const failed = rows.filter((row) => verdictOf(row) === "FAILED").length;
  console.log(`\n${rows.length - failed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

async function benchGrowth(): Promise<void> {
  const curves = await growths();
  if (values.write) writeGrowth(curves);
}
