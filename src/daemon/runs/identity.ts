import type { ProcessId, ProcessInfo } from "../../runtime/process/index.ts";
import type { Run } from "../../store/runs.ts";
import { recordOfRun, type House } from "../services.ts";

/** Who has to know more than that a run lives. */
export interface RunListener {
  /** A file other than the exit code appeared in the run's folder. */
  heard(run: string): void;
  /** It lives: these processes of it. Once per poll. */
  looked(run: Run, live: ProcessInfo[]): void;
  /** Inside the change that ends it, or takes its name away. */
  ending(run: Run, exit: number | null): void;
  /** After that change is on disk. */
  ended(run: string): void;
}

/** In a run's folder: what a pane's shell reads to become the wrapper. */
export const START_SCRIPT = "start";

/** The process that holds the name for it. */
export function identityOf(run: Run): ProcessId {
  return { pid: run.pid, startedAt: run.processStarted, bootId: run.bootId };
}

/** Something was seen of a run that `events -f` should show. */
export async function tellOfRun(
  house: Pick<House, "db" | "now" | "writer">,
  run: Run,
  type: string,
  data: Record<string, unknown> = {},
): Promise<void> {
  await house.writer.write(() => recordOfRun(house, type, run, data));
}
