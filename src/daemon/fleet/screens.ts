import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SCREEN_KEPT_LINES } from "../../limits/index.ts";
import { looksSuspended } from "../../runtime/tmux/suspended-screen.ts";
import { agentChain } from "../../launch/nesting.ts";
import { signalRunProcess } from "../../runtime/process/signal.ts";
import { failureKind } from "../../store/failure.ts";
import { PENDING_PANE, runById, setHolder, type Run } from "../../store/runs.ts";
import { carries } from "../../runtime/process/index.ts";
import type { Pane } from "../../runtime/tmux/pane-list.ts";
import type { LaunchServices } from "../launch/services.ts";
import type { TmuxHandle } from "./tmux-handle.ts";

/** In a run's folder: what its pane showed when it ended. */
export const SCREEN_FILE = "screen.txt";

/** The screen itself; what has scrolled away is not in front of anybody. */
export const CAPTURE_LINES = 60;

/** What it left on its screen, kept with the run for `logs` and read for a reason. Null when its pane is gone. */
export async function saveScreen(services: LaunchServices, panes: TmuxHandle, run: Run): Promise<string | null> {
  const tmux = run.pane === null ? null : panes.existingServer();
  const pane = tmux && (await panes.sharedPanes()).find((each) => each.run === run.id);
  if (!tmux || !pane) return null;
  const text = await tmux.capture(pane.id, { lines: SCREEN_KEPT_LINES, run: run.id });
  writeFileSync(join(services.runs.runDir(run.id), SCREEN_FILE), text, { mode: 0o600 });
  return text;
}

/** A daemon that was killed right after it had a pane made does not know yet which process holds the name. */
export async function adoptPanes(services: LaunchServices, panes: TmuxHandle): Promise<void> {
  try {
    for (const pane of (await panes.existingServer()?.panes()) ?? []) await adoptPane(services, pane);
  } catch (error) {
    if (failureKind(error) !== null) throw error;
    // Without tmux nothing of it can be seen; what lives is known by its processes.
    services.log(`panes: ${String(error)}`);
  }
}

async function adoptPane(services: LaunchServices, pane: Pane): Promise<void> {
  const run = pane.run === null ? null : runById(services.db, pane.run);
  const process = pane.dead ? null : services.processes.inspect(pane.pid);
  if (!run || run.endedMs !== null || run.pane !== PENDING_PANE || !process) return;
  await services.writer.write(() => setHolder(services.db, run.id, process, pane.id));
  const moved = runById(services.db, run.id) ?? run;
  services.runs.setHolder(moved);
}

/** One that was sent away by Ctrl-Z in a pane waits for a shell that is not there: it is told to go on. */
export async function resumeIfSuspended(services: LaunchServices, panes: TmuxHandle, run: Run): Promise<void> {
  const tmux = panes.existingServer();
  const pane = (await tmux?.panes())?.find((each) => each.run === run.id && !each.dead);
  if (!tmux || !pane || !looksSuspended(await tmux.capture(pane.id, { lines: CAPTURE_LINES }))) return;
  resumeSuspended(services, run);
}

export function resumeSuspended(services: LaunchServices, run: Run): void {
  const mark = services.runs.markOf(run);
  for (const pid of agentChain(services.processes, run.pid)) {
    const process = services.processes.inspect(pid);
    if (process) signalRunProcess(services.processes, process, mark, "SIGCONT");
  }
}

/** Its place among the panes is given back; the others of its group close ranks. What somebody else runs there stays. */
export async function clearPane(services: LaunchServices, panes: TmuxHandle, workerId: number): Promise<void> {
  for (const pane of (await panes.existingServer()?.panes()) ?? []) {
    if (pane.workerId === String(workerId) && isOurs(services, pane)) await panes.removePane(pane);
  }
}

/** A dead pane, or one whose process carries the run it was made for. */
function isOurs(services: LaunchServices, { dead, pid, run }: Pane): boolean {
  return dead || run === null || carries(services.processes, pid, { run, socket: services.paths.socket });
}
