import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { DaemonStatus } from "../../src/protocol/records/admin.ts";
import type { Home } from "../support/home.ts";
import type { Row } from "./report.ts";

const WORKERS = 10;

/** The daemon with nothing to do, against a Node that does nothing. */
export async function idleDaemon(home: Home): Promise<Row> {
  await home.perdure(["daemon", "stop"]);
  await home.perdure(["daemon", "start"]);
  const { pid } = await home.json<DaemonStatus>(["daemon", "status"]);
  const bare = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000); console.log()"], {
    env: home.env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(bare.stdout, "data");
  const ours = memory(`/proc/${pid}/status`, "VmRSS");
  const floor = memory(`/proc/${bare.pid}/status`, "VmRSS");
  bare.kill("SIGKILL");
  return {
    what: "idle daemon RSS",
    ours: mb(ours),
    floor: `${mb(floor)} bare node`,
    value: ours / floor,
    goal: 1.3,
    unit: "×",
  };
}

/** All that stays beside a running program: its wrapper, as the kernel shares it out (PSS). */
export async function perWorker(home: Home): Promise<Row> {
  const names = Array.from({ length: WORKERS }, (_, index) => `worker-${index + 1}`);
  const started = [];
  for (const name of names) started.push(await home.start(name, ["sleep", "600"]));
  const ours = started
    .flatMap(({ worker }) => home.processesOf(worker.run?.id ?? ""))
    .filter(({ command }) => command !== "sleep");
  const total = ours.reduce((sum, { pid }) => sum + memory(`/proc/${pid}/smaps_rollup`, "Pss"), 0);
  for (const { worker } of started) home.killRun(worker.run?.id ?? "");
  const each = total / WORKERS / 1000;
  return {
    what: "our memory per running worker (PSS)",
    ours: `${each.toFixed(2)} MB`,
    floor: `${WORKERS} workers`,
    value: each,
    goal: 5,
    unit: "MB",
  };
}

export function memory(file: string, key: string): number {
  return Number(new RegExp(`^${key}:\\s+(\\d+) kB`, "m").exec(readFileSync(file, "utf8"))?.[1]);
}

function mb(kilobytes: number): string {
  return `${(kilobytes / 1000).toFixed(1)} MB`;
}
