import { Worker } from "node:worker_threads";
import type { CheckResult } from "../protocol/results.ts";

/** Runs in a thread of its own, on a connection of its own: a check of a large store must not hold up answers. */
const THREAD = `
const { DatabaseSync } = require("node:sqlite");
const { parentPort, workerData } = require("node:worker_threads");
try {
  const db = new DatabaseSync(workerData.file, { readOnly: true });
  const rows = db.prepare("PRAGMA " + workerData.pragma).all().map((row) => String(Object.values(row)[0]));
  db.close();
  parentPort.postMessage(rows);
} catch (error) {
  parentPort.postMessage([error.message]);
}`;

/** `quick_check` after an unclean start; `integrity_check` (ten times slower) when somebody asks or the disk failed. */
export function checkStore(file: string, pragma: "quick_check" | "integrity_check"): Promise<CheckResult> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const thread = new Worker(THREAD, { eval: true, workerData: { file, pragma }, execArgv: [] });
    thread.once("error", reject);
    thread.once("message", (rows: string[]) => {
      const problems = rows.filter((row) => row !== "ok");
      resolve({ ok: problems.length === 0, problems, tookMs: Math.round(performance.now() - startedAt) });
    });
    thread.unref();
  });
}
