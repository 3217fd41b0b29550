import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BIN, type Home } from "../support/home.ts";
import type { Row } from "./report.ts";
import { percentile } from "./sampling.ts";

const ROUNDS = 40;

/** A transcript as each vendor writes it, of a size that a long conversation has. */
const TRANSCRIPTS: Readonly<Record<string, { file: (id: string) => string; lines: (id: string) => object[] }>> = {
  claude: {
    file: (id) => join(".claude", "projects", "-api", `${id}.jsonl`),
    lines: (id) =>
      filler((text) => ({ type: "user", uuid: randomUUID(), sessionId: id, message: { role: "user", content: text } })),
  },
  codex: {
    file: (id) => join(".codex", "sessions", "2026", "11", "15", `rollout-2026-11-15T10-00-00-${id}.jsonl`),
    lines: (id) => [
      { type: "session_meta", payload: { id, cwd: "/", cli_version: "0.166.0" } },
      ...filler((text) => ({ type: "response_item", payload: { text } })),
    ],
  },
};

function filler(line: (text: string) => object): object[] {
  return Array.from({ length: 2_000 }, (_, index) => line(`${index} ${"words ".repeat(200)}`));
}

/** From `perdure run NAME` to the vendor's first instruction, which here says what time it is. */
export async function resumes(home: Home): Promise<Row[]> {
  const bin = join(home.dir, "vendors");
  mkdirSync(bin);
  const rows: Row[] = [];
  for (const [vendor, { file, lines }] of Object.entries(TRANSCRIPTS)) {
    writeFileSync(join(bin, vendor), "#!/bin/sh\nexec date +%s%N\n", { mode: 0o755 });
    const id = randomUUID();
    const path = join(home.dir, file(id));
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(
      path,
      `${lines(id)
        .map((line) => JSON.stringify(line))
        .join("\n")}\n`,
    );
    const env = { ...home.env, PATH: `${bin}:${home.env.PATH}` };
    const adopted = await home.perdure(["adopt", vendor, "--vendor", vendor, "--conversation", id], { env });
    if (adopted.code !== 0) throw new Error(adopted.stderr);
    const direct: number[] = [];
    const ours: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      direct.push(untilStamp(join(bin, vendor), [], home.project, env));
      ours.push(untilStamp(BIN, ["run", vendor], home.project, env));
      await home.until(vendor, ({ state }) => state === "stopped");
    }
    const [floor, total] = [percentile(direct, 0.5), percentile(ours, 0.5)];
    rows.push({
      what: `our share of a resume, ${vendor}`,
      ours: `${total.toFixed(1)} ms`,
      floor: `${floor.toFixed(1)} ms without us`,
      value: total - floor,
      goal: 100,
      unit: "ms",
    });
  }
  return rows;
}

/** Milliseconds from now until the program, wherever it is started, tells the time. */
function untilStamp(file: string, args: string[], cwd: string, env: Record<string, string>): number {
  const startedAt = performance.timeOrigin + performance.now();
  const { stdout, stderr, status } = spawnSync(file, args, { cwd, env, encoding: "utf8" });
  if (status !== 0 || !/^[0-9]+\n$/.test(stdout)) throw new Error(`${file} ${args.join(" ")}: ${status} ${stderr}`);
  return Number(BigInt(stdout.trim()) / 1_000n) / 1_000 - startedAt;
}
