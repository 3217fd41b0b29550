// Keeps, beside the daemon and the programs of the verbs that are typed the most, the code that V8 makes of them when they run: they are
// run once, in a home of their own. The code is of one version of Node and one kind of machine, and elsewhere nobody takes it
// (scripts/cached.cjs).
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** The runs that show V8 what each verb uses; the first one makes the worker. */
const RUNS = [
  ["run", "worker", "--", "true"],
  ["run", "worker"],
  ["ls"],
  ["show", "worker"],
  ["history", "worker"],
  ["send", "worker", "text"],
  ["inbox", "worker"],
  ["whoami"],
  ["context", "path"],
];

/** Ends each program in the folder with its digest, and keeps the code of those above, made by this Node. */
export async function keepCode(dist, node) {
  for (const name of ["cached.cjs", "daemon.cjs"]) copyFileSync("scripts/cached.cjs", join(dist, name));
  const programs = ["perdured", ...new Set(RUNS.map(([verb]) => `verb-${verb}`))];
  for (const program of programs) {
    const file = join(dist, `${program}.cjs`);
    appendFileSync(file, `\n//${createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 16)}\n`);
  }
  // Node comes along where this is a clone, or a package of ours; a build without it has no code to keep.
  if (!existsSync(node)) return;
  const home = mkdtempSync(join(tmpdir(), "perdure-code-"));
  const project = join(home, "project");
  mkdirSync(project);
  const options = { cwd: project, env: { HOME: home, PATH: process.env.PATH }, stdio: ["ignore", "ignore", "pipe"] };
  const keeping = (program) => [resolve("scripts/keep-code.cjs"), resolve(dist, `${program}.cjs`)];
  const daemon = (word) => execFileSync(node, [resolve(dist, "verb-daemon.cjs"), "daemon", word], options);
  try {
    // A daemon that has done nothing: code of calls would be kept in the memory of one that gets none.
    copyFileSync("scripts/keep-code.cjs", join(dist, "daemon.cjs"));
    daemon("start");
    daemon("stop");
    copyFileSync("scripts/cached.cjs", join(dist, "daemon.cjs"));
    for (const words of RUNS) execFileSync(node, [...keeping(`verb-${words[0]}`), ...words], options);
    daemon("stop");
  } catch (error) {
    console.error(`No code of the verbs is kept, so they start slower: ${error.message}`);
  } finally {
    copyFileSync("scripts/cached.cjs", join(dist, "daemon.cjs"));
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  }
}
