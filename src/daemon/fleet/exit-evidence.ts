import type { End } from "../../core/restart.ts";
import type { RunRow } from "../../store/runs.ts";
import type { WorkerRow } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import { blockedExitOn } from "../../vendors/shared/blocked-exit.ts";
import type { House } from "../services.ts";
import type { Panes } from "./tmux-handle.ts";
import { keepScreen } from "./screens.ts";

/**
 * How a run ended, as far as starting it again is concerned. What is on its screen is a help: without it, the code decides.
 * `dialog` is what it was blocked by at its end.
 */
export async function endOf(
  house: House,
  panes: Panes,
  run: RunRow,
  worker: WorkerRow,
  dialog: string | undefined,
): Promise<Omit<End, "ranMs">> {
  const text = await keepScreen(house, panes, run).catch((error: unknown) => {
    house.log(`the last screen of ${run.id}: ${String(error)}`);
    return "";
  });
  const asked = run.stopped_by !== null || run.displaced_ms !== null;
  const held =
    text === null ? null : (blockedExitOn(text, adapterOf(worker.vendor ?? "")?.screen)?.line ?? endedAt(dialog));
  return { exit: run.exit, asked, held: held && withoutValues(held, worker), hungUp: text === null };
}

/** It ended with a question in front of it: the answer was no, or nobody's. Asked again at once, it would end again. */
function endedAt(dialog: string | undefined): string | null {
  return dialog === "trust" ? "it ended at its trust dialog; answer it: perdure up, then perdure attach" : null;
}

/** Programs print keys, too: what was recorded for it is never shown. */
function withoutValues(line: string, { environment }: WorkerRow): string {
  const values = Object.values(JSON.parse(environment) as Record<string, string>).filter((value) => value.length >= 8);
  return values.toSorted((a, b) => b.length - a.length).reduce((text, value) => text.replaceAll(value, "…"), line);
}
