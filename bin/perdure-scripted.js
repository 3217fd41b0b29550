#!/usr/bin/env sh
":" // # A shell first, then the same file as JavaScript: the right Node is exec'd, and the agent is the process that was started.
":" //; perdure_f=$0; case $perdure_f in */*) ;; *) perdure_f=./$perdure_f;; esac; while [ -L "$perdure_f" ]; do perdure_l=$(readlink "$perdure_f"); case $perdure_l in /*) perdure_f=$perdure_l;; *) perdure_f=${perdure_f%/*}/$perdure_l;; esac; done
":" //; perdure_d=${perdure_f%/*}/..; perdure_n=$perdure_d/node_modules/node/bin/node; [ -x "$perdure_n" ] || perdure_n=node
":" //; if [ -f "$perdure_d/dist/scripted.cjs" ]; then exec "$perdure_n" "$perdure_d/dist/scripted.cjs" "$@"; fi
":" //; echo "perdure-scripted: not built yet; run: npm ci" >&2; exit 7

// Reached as JavaScript only by `node bin/perdure-scripted.js`.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const [major, minor] = process.versions.node.split(".").map(Number);
const own = fileURLToPath(new URL("../node_modules/node/bin/node", import.meta.url));
const agent = fileURLToPath(new URL("../dist/scripted.cjs", import.meta.url));

if (major > 24 || (major === 24 && minor >= 15) || !existsSync(own)) {
  createRequire(import.meta.url)(agent);
} else {
  const { status, signal } = spawnSync(own, [agent, ...process.argv.slice(2)], { stdio: "inherit" });
  if (signal) process.kill(process.pid, signal);
  process.exitCode = status ?? 1;
}
