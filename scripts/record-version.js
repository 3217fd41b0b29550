// Keeps the built program of this version as a fixture, test/upgrade/fixtures/perdure-0.1.tar.gz: what the next version has
// to take over from. Run it once per released version, on the very commit that is released, after `npm run build`:
//
//   node scripts/record-version.js
//
// A fixture that is there is left alone: a version that people run is never recorded anew. The same build makes the same
// file, byte for byte: npm packs in a fixed order, with one fixed time for all.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "..");

/** All that runs: what an installed package has besides its documentation, types and source maps. */
const FILES = [
  "package.json",
  "bin/perdure.js",
  "bin/perdure-scripted.js",
  ...readdirSync(join(ROOT, "dist"))
    .filter((file) => /\.(cjs|js|json)$/.test(file))
    .map((file) => `dist/${file}`),
];

const { name, version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const [major, minor] = version.split(".");
const fixture = join(ROOT, "test/upgrade/fixtures", `perdure-${major}.${minor}.tar.gz`);
if (existsSync(fixture)) {
  console.error(`${fixture} is there already: a version is recorded once.\n  → to record it anew, remove it first`);
  process.exit(5);
}

const stage = mkdtempSync(join(tmpdir(), "perdure-record-"));
try {
  for (const file of FILES) {
    mkdirSync(dirname(join(stage, file)), { recursive: true });
    copyFileSync(join(ROOT, file), join(stage, file));
  }
  execFileSync("npm", ["pack", "--ignore-scripts", "--loglevel=error"], { cwd: stage, stdio: "ignore" });
  mkdirSync(dirname(fixture), { recursive: true });
  copyFileSync(join(stage, `${name}-${version}.tgz`), fixture);
} finally {
  rmSync(stage, { recursive: true, force: true });
}
console.log(fixture);
