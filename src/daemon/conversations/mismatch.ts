import type { Run } from "../../store/runs.ts";
import { workerById } from "../../store/workers.ts";
import type { Watched } from "../services.ts";
import { isHeadless } from "./proof.ts";
import { displaceRun, stopRun } from "../runs/stop.ts";

/** Nobody sits in front of a headless one to see that it is in the wrong conversation: it is stopped. */
export async function stopHeadless(house: Watched, run: Run): Promise<void> {
  const worker = workerById(house.db, run.workerId);
  if (!worker || !isHeadless(worker)) return;
  const by = "perdure, because it came up in another conversation";
  const displaced = await house.writer.write(() => displaceRun(house, worker.id, by));
  if (displaced?.id === run.id) await stopRun(house, displaced, 0);
}
