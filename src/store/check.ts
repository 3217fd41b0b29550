import type { CheckResult } from "../protocol/records/admin.ts";

/** The check runs in a process of its own: a thread would leave 17 MB behind in an idle daemon. */
const SCRIPT = `
const { DatabaseSync } = require("node:sqlite");
const [file, pragma] = process.argv.slice(1);
try {
  const rows = new DatabaseSync(file, { readOnly: true, timeout: 5000 }).prepare("PRAGMA " + pragma).all();
  console.log(JSON.stringify(rows.map((row) => String(Object.values(row)[0]))));
} catch (error) {
  // Only SQLITE_CORRUPT and SQLITE_NOTADB are about the content; a lock or a failing disk says nothing about it.
  if (![11, 26].includes(error.errcode & 0xff)) throw error;
  console.log(JSON.stringify([error.message]));
}`;

/** Runs `quick_check` after an unclean start; `integrity_check`, ten times slower, on request or after a disk error. */
export function checkStore(file: string, pragma: "quick_check" | "integrity_check"): Promise<CheckResult> {
  const { execFile } = process.getBuiltinModule("node:child_process");
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ["-e", SCRIPT, file, pragma], { env: {} }, (error, stdout) => {
      if (error) return reject(error);
      const problems = (JSON.parse(stdout) as string[]).filter((row) => row !== "ok");
      resolve({ ok: problems.length === 0, problems, tookMs: Math.round(performance.now() - startedAt) });
    });
  });
}
