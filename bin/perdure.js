#!/usr/bin/env sh
":" // # A shell first, then the same file as JavaScript: whichever Node is on PATH, the right one is exec'd, with no
":" // # older Node left standing in front of a worker. Every variable has a prefix, so none of the caller's changes.
":" //; perdure_f=$0; case $perdure_f in */*) ;; *) perdure_f=./$perdure_f;; esac; while [ -L "$perdure_f" ]; do perdure_l=$(readlink "$perdure_f"); case $perdure_l in /*) perdure_f=$perdure_l;; *) perdure_f=${perdure_f%/*}/$perdure_l;; esac; done
":" //; perdure_d=${perdure_f%/*}/..; perdure_n=$perdure_d/node_modules/node/bin/node; [ -x "$perdure_n" ] || perdure_n=node
":" // # With PERDURE_DEBUG the stack of an internal error names the files of src.
":" // # Node resets ignored signals (nohup, a script's &) and raises the limit of open files; `run` puts both back.
":" //; case $1 in run|pi-session) PERDURE_NOFILE=$(ulimit -S -n); export PERDURE_NOFILE;; esac
":" //; if [ "$PERDURE_NOFILE" ] && [ -r /proc/self/status ]; then while read -r perdure_k perdure_v; do case $perdure_k in SigIgn:) PERDURE_SIGIGN=$perdure_v; export PERDURE_SIGIGN; break;; esac; done < /proc/self/status; fi
":" // # Each verb is a program of its own; whatever names none (help, a mistake, --json first) is for cli.cjs.
":" //; perdure_p=$perdure_d/dist/verb-$1.cjs; [ -f "$perdure_p" ] || perdure_p=$perdure_d/dist/cli.cjs
":" //; if [ -f "$perdure_p" ]; then exec "$perdure_n" ${PERDURE_DEBUG:+--enable-source-maps} "$perdure_p" "$@"; fi
":" //; echo "perdure: not built yet; run: npm ci" >&2; exit 7

// Reached as JavaScript only by `node bin/perdure.js`.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const [major, minor] = process.versions.node.split(".").map(Number);
const own = fileURLToPath(new URL("../node_modules/node/bin/node", import.meta.url));
const cli = fileURLToPath(new URL("../dist/cli.cjs", import.meta.url));

if (major > 24 || (major === 24 && minor >= 15) || !existsSync(own)) {
  process.setSourceMapsEnabled(Boolean(process.env.PERDURE_DEBUG));
  createRequire(import.meta.url)(cli);
} else {
  const flags = process.env.PERDURE_DEBUG ? ["--enable-source-maps"] : [];
  const { status, signal } = spawnSync(own, [...flags, cli, ...process.argv.slice(2)], { stdio: "inherit" });
  if (signal) process.kill(process.pid, signal);
  process.exitCode = status ?? 1;
}
