import type { RestartEvidence } from "../../core/restart.ts";
import type { Run } from "../../store/runs.ts";
import type { Worker } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import { blockedExitOn } from "../../vendors/shared/blocked-exit.ts";
import type { LaunchServices } from "../launch/services.ts";
import type { TmuxHandle } from "./tmux-handle.ts";
import { saveScreen } from "./screens.ts";

/**
 * Collects the evidence for a restart: the exit code, and what the last screen says. Without a screen the exit code decides.
 * `dialog` is what the agent was blocked by when it ended.
 */
export async function exitEvidence(
  services: LaunchServices,
  tmux: TmuxHandle,
  run: Run,
  worker: Worker,
  dialog: string | undefined,
): Promise<Omit<RestartEvidence, "ranMs">> {
  const text = await saveScreen(services, tmux, run).catch((error: unknown) => {
    services.log(`the last screen of ${run.id}: ${String(error)}`);
    return "";
  });
  const requested = run.stoppedBy !== null || run.displacedMs !== null;
  const blockedReason =
    text === null
      ? null
      : (blockedExitOn(text, adapterOf(worker.vendor ?? "")?.screen)?.line ?? trustDialogReason(dialog));
  return {
    exit: run.exit,
    requested,
    onHold: blockedReason && redact(blockedReason, worker),
    terminalLost: text === null,
  };
}

/** Returns why a run that ended at its trust dialog is not restarted: the dialog would only end it again. */
function trustDialogReason(dialog: string | undefined): string | null {
  return dialog === "trust" ? "it ended at its trust dialog; answer it: perdure up, then perdure attach" : null;
}

/** Replaces the values of the recorded environment, because programs print keys, too. */
function redact(line: string, { environment }: Worker): string {
  const values = Object.values(environment).filter((value) => value.length >= 8);
  return values.toSorted((a, b) => b.length - a.length).reduce((text, value) => text.replaceAll(value, "…"), line);
}
