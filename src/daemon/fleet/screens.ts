import { join } from "node:path";
import { CAPTURE_LINES, SCREEN_KEPT_LINES } from "../../limits/index.ts";
import { looksSuspended } from "../../runtime/tmux/suspended-screen.ts";
import { signalRunProcess } from "../../runtime/process/signal.ts";
import { writeFileAtomic } from "../../state/files.ts";
import { failureKind } from "../../store/failure.ts";
import { PENDING_PANE, runById, setHolder, type Run } from "../../store/runs.ts";
import { carries } from "../../runtime/process/index.ts";
import type { Pane } from "../../runtime/tmux/pane-list.ts";
import type { LaunchServices } from "../launch/services.ts";
import { chainOf } from "../runs/elsewhere.ts";
import type { TmuxHandle } from "./tmux-handle.ts";

/** The file in a run's folder with what its pane showed when it ended. */
export const SCREEN_FILE = "screen.txt";

/** Saves the last screen of a run for `logs` and returns it; null when its pane is gone. */
export async function saveScreen(services: LaunchServices, tmux: TmuxHandle, run: Run): Promise<string | null> {
  const server = run.pane === null ? null : tmux.existingServer();
  const pane = server && (await tmux.sharedPanes()).find((each) => each.run === run.id);
  if (!server || !pane) return null;
  const text = await server.capture(pane.id, { lines: SCREEN_KEPT_LINES, run: run.id });
  writeFileAtomic(join(services.runs.runDir(run.id), SCREEN_FILE), text);
  return text;
}

/** Finds the processes that hold names in panes which an earlier daemon made right before it was killed. */
export async function adoptPanes(services: LaunchServices, tmux: TmuxHandle): Promise<void> {
  try {
    for (const pane of (await tmux.existingServer()?.panes()) ?? []) await adoptPane(services, pane);
  } catch (error) {
    if (failureKind(error) !== null) throw error;
    // Without tmux no pane can be adopted; living runs are still found by their processes.
    services.log(`panes: ${String(error)}`);
  }
}

async function adoptPane(services: LaunchServices, pane: Pane): Promise<void> {
  const run = pane.run === null ? null : runById(services.db, pane.run);
  const wrapper = pane.dead ? null : services.processes.inspect(pane.pid);
  if (!run || run.endedMs !== null || run.pane !== PENDING_PANE || !wrapper) return;
  await services.writer.write(() => setHolder(services.db, run.id, wrapper, pane.id));
  services.runs.setHolder(runById(services.db, run.id) ?? run);
}

/** Continues an agent that was suspended with Ctrl-Z in a pane, where no shell could continue it. */
export async function resumeIfSuspended(services: LaunchServices, tmux: TmuxHandle, run: Run): Promise<void> {
  const server = tmux.existingServer();
  const pane = (await server?.panes())?.find((each) => each.run === run.id && !each.dead);
  if (!server || !pane || !looksSuspended(await server.capture(pane.id, { lines: CAPTURE_LINES }))) return;
  resumeSuspended(services, run);
}

export function resumeSuspended(services: LaunchServices, run: Run): void {
  const mark = services.runs.markOf(run);
  for (const pid of chainOf(services.processes, run)) {
    const process = services.processes.inspect(pid);
    if (process) signalRunProcess(services.processes, process, mark, "SIGCONT");
  }
}

/** Removes the worker's panes; a pane in which somebody runs another program stays. */
export async function clearPane(services: LaunchServices, tmux: TmuxHandle, workerId: number): Promise<void> {
  for (const pane of (await tmux.existingServer()?.panes()) ?? []) {
    if (pane.workerId === String(workerId) && isOurs(services, pane)) await tmux.removePane(pane);
  }
}

/** Tells whether the pane is dead, or its process carries the run that the pane was made for. */
function isOurs(services: LaunchServices, { dead, pid, run }: Pane): boolean {
  return dead || run === null || carries(services.processes, pid, { run, socket: services.paths.socket });
}
