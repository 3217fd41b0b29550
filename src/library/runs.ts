import { setTimeout as sleep } from "node:timers/promises";
import { LIST_ROWS_MAX, RECONNECT_MS } from "../limits/index.ts";
import type { Target } from "../protocol/calls/index.ts";
import { isPerdureError } from "../protocol/errors.ts";
import type { EventRecord } from "../protocol/records/admin.ts";
import type { RunRecord } from "../protocol/records/run.ts";
import type { Link } from "./link.ts";

/** How a run ended. */
export interface RunEnd {
  run: string;
  /** The program's exit code; null when it is unknown. */
  exit: number | null;
  reason: string;
}

/**
 * Lists the runs of a worker; none for an unknown one, which may not be registered yet or may have been renamed.
 * @internal
 */
export async function runsOf(link: Link, target: Target): Promise<RunRecord[]> {
  const client = await link.client();
  try {
    return (await client.collect("history", { target, limit: LIST_ROWS_MAX })).items;
  } catch (error) {
    if (isPerdureError(error) && error.code === "not-found") return [];
    throw error;
  }
}

/**
 * Resolves when a run has ended, immediately if it already has. Keeps waiting across restarts of the daemon.
 * @internal
 */
export async function whenEnded(
  link: Link,
  target: Target,
  run: string,
  follow: (after: number | undefined) => AsyncGenerator<EventRecord>,
): Promise<RunEnd> {
  let after: number | undefined;
  for (;;) {
    try {
      for await (const event of follow(after)) {
        if (event.type === "run.ended" && event.run === run) return toRunEnd(run, event.data);
        // The history is read once the stream is open, so that no end falls between reading and following.
        const recorded = after === undefined ? await recordedEnd(link, target, run) : null;
        if (recorded) return recorded;
        after = event.seq;
      }
    } catch (error) {
      if (!isPerdureError(error) || error.code !== "unavailable") throw error;
    }
    link.requireOpen();
    await sleep(RECONNECT_MS);
  }
}

async function recordedEnd(link: Link, target: Target, run: string): Promise<RunEnd | null> {
  const record = (await runsOf(link, target)).find(({ id, endedAt }) => id === run && endedAt !== null);
  return record ? toRunEnd(run, { ...record }) : null;
}

function toRunEnd(run: string, data: Record<string, unknown>): RunEnd {
  const { exit, reason } = data;
  return { run, exit: typeof exit === "number" ? exit : null, reason: typeof reason === "string" ? reason : "ended" };
}
