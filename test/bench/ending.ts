import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EVENT_PREFIX } from "../../src/vendors/index.ts";
import { VERDICT_FILE } from "../../src/runtime/wrapper/script.ts";
import { BIN, type Home } from "../support/home.ts";
import type { Row } from "./report.ts";
import { milliseconds, percentile, spreadOf } from "./sampling.ts";

const ROUNDS = 40;

/**
 * A headless claude that writes one line, and tells the time as the last thing it does. The first word of its prompt says whether it
 * shows its conversation, as its hook does, and waits until that is known.
 */
function program(transcript: string): string {
  return `#!/bin/sh
while [ $# -gt 1 ]; do
  case $1 in --resume) id=$2 ;; --settings) run=\${2%/*} ;; esac
  shift
done
if [ "$1" = shown ]; then
  printf '{"session_id":"%s","hook_event_name":"SessionStart","source":"resume"}' "$id" > "$run/.shown"
  mv "$run/.shown" "$run/${EVENT_PREFIX}1"
  until [ -e "$run/${VERDICT_FILE}" ]; do sleep 0.01; done
fi
printf '{"type":"user","sessionId":"%s","uuid":"x","message":{"role":"user","content":"x"}}\\n' "$id" >> '${transcript}'
exec date +%s%N
`;
}

/** From the end of a headless program to the end of `perdure run`, against that of a program without a conversation. */
export async function endings(home: Home): Promise<Row[]> {
  const bin = join(home.dir, "headless");
  const id = randomUUID();
  const transcript = join(home.dir, ".claude", "projects", "-ended", `${id}.jsonl`);
  mkdirSync(bin);
  mkdirSync(join(transcript, ".."), { recursive: true });
  writeFileSync(join(bin, "claude"), program(transcript), { mode: 0o755 });
  const line = { type: "user", sessionId: id, uuid: randomUUID(), message: { role: "user", content: "x" } };
  writeFileSync(transcript, `${JSON.stringify(line)}\n`);
  const env = { ...home.env, PATH: `${bin}:${home.env.PATH}` };
  const adopted = await home.perdure(["adopt", "ended", "--vendor", "claude", "--conversation", id], { env });
  if (adopted.code !== 0) throw new Error(adopted.stderr);
  const commands = {
    plain: ["run", "plain", "--", "date", "+%s%N"],
    shown: ["run", "ended", "--", "claude", "-p", "shown"],
    silent: ["run", "ended", "--", "claude", "-p", "silent"],
  };
  const times = { plain: [] as number[], shown: [] as number[], silent: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const kind of ["plain", "shown", "silent"] as const) {
      times[kind].push(sinceStamp(commands[kind], home.project, env));
      await home.until(kind === "plain" ? kind : "ended", ({ state }) => state === "stopped");
    }
  }
  const floor = percentile(times.plain, 0.5);
  const row = (what: string, values: number[], goal: number, failAt: number): Row => {
    const ours = percentile(values, 0.5);
    return {
      what,
      ours: milliseconds(ours),
      floor: `${milliseconds(floor)} without a conversation`,
      value: ours / floor,
      goal,
      failAt,
      spread: spreadOf(times.plain),
    };
  };
  return [
    row("end of a headless run, proved before", times.shown, 1.5, 4),
    row("end of a headless run, proved by its transcript", times.silent, 6, 9),
  ];
}

/** Milliseconds from the time that the program tells until the command is over. */
function sinceStamp(words: string[], cwd: string, env: Record<string, string>): number {
  const { stdout, stderr, status } = spawnSync(BIN, words, { cwd, env, encoding: "utf8" });
  const endedAt = performance.timeOrigin + performance.now();
  if (status !== 0 || !/^[0-9]+\n$/.test(stdout)) throw new Error(`${words.join(" ")}: ${status} ${stderr}`);
  return endedAt - Number(BigInt(stdout.trim()) / 1_000n) / 1_000;
}
