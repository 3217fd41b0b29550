#!/usr/bin/env node
// The vendor of docs/adding-a-vendor.md: each line it is given is a turn, and it answers with all it remembers.
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const [how, talk = ""] = process.argv.slice(2);
const home = process.env.TOY_HOME || join(process.env.HOME ?? "/", ".toy");
const file = join(home, "talks", `${talk}.jsonl`);
if (how === "--go-on" && !existsSync(file)) {
  console.error(`there is no talk ${talk}`);
  process.exit(1);
}
mkdirSync(join(home, "talks"), { recursive: true });
mkdirSync(join(home, "live"), { recursive: true });
const live = join(home, "live", `${process.pid}.json`);
const voice = process.env.TOY_VOICE;
const procStart = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ")[19];
// Whoever finds the file may read it at once, so it appears whole.
writeFileSync(`${live}.tmp`, JSON.stringify({ talk, procStart, voice }));
renameSync(`${live}.tmp`, live);
for await (const said of createInterface({ input: process.stdin })) {
  if (!existsSync(file)) appendFileSync(file, `${JSON.stringify({ talk, cwd: process.cwd() })}\n`);
  appendFileSync(file, `${JSON.stringify({ said })}\n`);
  const turns = readFileSync(file, "utf8").trim().split("\n").slice(1);
  console.log(turns.map((line) => line.replace(/.*"said":"(.*)".*/, "$1")).join(", "));
}
rmSync(live);
