import type { WorkerState, WorkerSummary } from "../../../../src/protocol/records/worker.ts";
import type { Paint } from "../../../../src/commands/shared/output.ts";

/** A time that is shown as `1m` for the next half minute. */
const A_MINUTE_AGO = new Date(Date.now() - 90_000).toISOString();

export function sampleWorker(name: string, state: WorkerState, rest: Partial<WorkerSummary> = {}): WorkerSummary {
  const lives = !["stopped", "crash-looping", "on-hold", "unresumable", "backing-off"].includes(state);
  return {
    address: `api/${name}`,
    uid: "0a".repeat(16),
    project: "api",
    projectUid: "0b".repeat(16),
    name,
    vendor: "claude",
    unproved: null,
    mode: "tmux",
    state,
    generation: 3,
    run: lives ? { id: `velox.api.${name}.1794776835`, pid: 4242, startedAt: A_MINUTE_AGO } : null,
    session: { id: "c77a107a-bab2-4410-831d-71c8b7b2ee40", provenance: "assigned", proved: true },
    unread: 0,
    restarts: 0,
    attention: null,
    lastEnd: lives ? null : { reason: "SIGKILL", exit: 137, at: A_MINUTE_AGO },
    ...rest,
  };
}

/** Paints with tags in place of colours, so that a test can read them. */
const mark =
  (colour: string) =>
  (text: string): string =>
    `<${colour}>${text}</${colour}>`;

export const MARKED: Paint = {
  bold: mark("bold"),
  dim: mark("dim"),
  green: mark("green"),
  yellow: mark("yellow"),
  red: mark("red"),
  cyan: mark("cyan"),
};

const same = (text: string): string => text;
export const PLAIN: Paint = { bold: same, dim: same, green: same, yellow: same, red: same, cyan: same };
