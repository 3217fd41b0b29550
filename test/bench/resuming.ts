import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { WorkerSummary } from "../../src/protocol/records/worker.ts";
import { BIN, type Home } from "../support/home.ts";
import { sendParams } from "../support/send-params.ts";
import { bareCall } from "./floors/programs.ts";
import { withLeast, type Row } from "./report.ts";
import { command, milliseconds, percentile, spreadOf, timed } from "./sampling.ts";

const ROUNDS = 30;

type Vendor = "claude" | "codex";

/** A transcript as each vendor writes it, of a size that a long conversation has. */
const TRANSCRIPTS: Readonly<Record<Vendor, { file: (id: string) => string; lines: (id: string) => object[] }>> = {
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

/** Takes what we add to the start of a vendor's program in its conversation, with a long transcript. */
export async function resumes(home: Home): Promise<Row[]> {
  const rows: Row[] = [];
  for (const vendor of ["claude", "codex"] as const) {
    const resume = await preparedResume(home, vendor);
    const times = { node: [] as number[], direct: [] as number[], least: [] as number[], ours: [] as number[] };
    for (let round = 0; round < ROUNDS; round++) {
      times.node.push(timed(resume.node));
      times.direct.push(resume.direct());
      times.least.push(resume.least());
      times.ours.push(await resume.ours());
    }
    const [floor, direct] = [percentile(times.node, 0.5), percentile(times.direct, 0.5)];
    const [share, least] = [percentile(times.ours, 0.5) - direct, percentile(times.least, 0.5) - direct];
    const row: Row = {
      what: `our share of a resume, ${vendor}`,
      ours: milliseconds(share),
      floor: `${milliseconds(floor)} node -e 0`,
      value: share / floor,
      goal: 1.5,
      failAt: 5,
      spread: spreadOf(times.node),
    };
    const what = `one durable call and a wrapper, by hand, ${vendor}`;
    rows.push(...withLeast([row], { what, ours: milliseconds(least), value: least / floor }));
  }
  return rows;
}

interface PreparedResume {
  /** An empty Node. */
  node: () => void;
  /** Milliseconds to the first instruction of the vendor's program, which here says what time it is, when it is called by itself. */
  direct: () => number;
  /** The same by the least program that makes one durable call and becomes a wrapper. */
  least: () => number;
  /** The same by `perdure run NAME`; the run is over when it resolves. */
  ours: () => Promise<number>;
}

/** Gives a worker of the vendor's name a conversation that it can be resumed in. */
export async function preparedResume(home: Home, vendor: Vendor): Promise<PreparedResume> {
  const program = installVendor(home, vendor);
  const env = { ...home.env, PATH: `${dirname(program)}:${home.env.PATH}` };
  const { workers } = await home.json<{ workers: WorkerSummary[] }>(["ls"]);
  if (workers.every(({ name }) => name !== vendor)) {
    const id = randomUUID();
    writeTranscript(home, vendor, id);
    const adopted = await home.perdure(["adopt", vendor, "--vendor", vendor, "--conversation", id], { env });
    if (adopted.code !== 0) throw new Error(adopted.stderr);
  }
  return {
    node: command(process.execPath, ["-e", "0"], { cwd: home.project, env }),
    direct: () => untilStamp(program, [], home.project, env),
    least() {
      const bare = bareCall(home, "send", sendParams(home, "operator", "x"), [program]);
      return untilStamp(bare.file, bare.args, home.project, { ...env, ...bare.env });
    },
    async ours() {
      const took = untilStamp(BIN, ["run", vendor], home.project, env);
      await home.until(vendor, ({ state }) => state === "stopped");
      return took;
    },
  };
}

function installVendor(home: Home, vendor: Vendor): string {
  const program = join(home.dir, "vendors", vendor);
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(program, "#!/bin/sh\nexec date +%s%N\n", { mode: 0o755 });
  return program;
}

function writeTranscript(home: Home, vendor: Vendor, id: string): void {
  const { file, lines } = TRANSCRIPTS[vendor];
  const path = join(home.dir, file(id));
  mkdirSync(dirname(path), { recursive: true });
  const text = lines(id).map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(path, text.join(""));
}

/** Milliseconds from now until the program, wherever it is started, tells the time. */
function untilStamp(file: string, args: string[], cwd: string, env: Record<string, string>): number {
  const startedAt = performance.timeOrigin + performance.now();
  const { stdout, stderr, status } = spawnSync(file, args, { cwd, env, encoding: "utf8" });
  if (status !== 0 || !/^[0-9]+\n$/.test(stdout)) throw new Error(`${file} ${args.join(" ")}: ${status} ${stderr}`);
  return Number(BigInt(stdout.trim()) / 1_000n) / 1_000 - startedAt;
}
