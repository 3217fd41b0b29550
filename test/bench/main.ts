import { cpus } from "node:os";
import { Home } from "../support/home.ts";
import { claims } from "./claiming.ts";
import { mails } from "./mailing.ts";
import { fleets } from "./fleet.ts";
import { idleDaemon, perWorker } from "./memory.ts";
import { report } from "./report.ts";
import { resumes } from "./resuming.ts";
import { coldStarts } from "./starting.ts";

// Floors and ours, taken in turn in one run: trust the ratios, not the milliseconds.

const home = new Home();
try {
  const rows = [
    await idleDaemon(home),
    ...coldStarts(home),
    await claims(home),
    await perWorker(home),
    ...(await resumes(home)),
    ...(await fleets()),
    ...(await mails()),
  ];
  console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? "?"}\n`);
  const failed = report(rows);
  console.log(`\n${rows.length - failed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
} finally {
  await home.clear();
}
