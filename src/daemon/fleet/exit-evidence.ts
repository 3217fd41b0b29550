import { setTimeout as sleep } from "node:timers/promises";
import { TMUX_GOING_MS } from "../../limits/index.ts";
import { holdReason, isStanding, UNKNOWN, type Attention } from "../../core/attention.ts";
import type { RestartEvidence } from "../../core/restart.ts";
import type { Run } from "../../store/runs.ts";
import type { Worker } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import { blockedExitOn, type BlockedExit } from "../../vendors/shared/blocked-exit.ts";
import { lastWordsOn } from "../../vendors/shared/screen.ts";
import { shownWords } from "../conversations/attention/vendor-words.ts";
import type { LaunchServices } from "../launch/services.ts";
import type { TmuxHandle } from "./tmux-handle.ts";
import { conversationOfRun } from "../../store/conversations.ts";
import { recordRefusedStart } from "../conversations/binding/refused-start.ts";
import { saveScreen } from "./screens.ts";

export interface ExitEvidence extends Omit<RestartEvidence, "ranMs"> {
  /** The vendor's program itself did not resume the conversation, which is on record then. */
  refused: boolean;
  /** The program went on only if somebody logged in. */
  needsLogin: boolean;
}

/**
 * Collects the evidence for a restart: the exit code, what blocked the agent when it ended, and what the last screen says.
 * Without a screen the first two decide.
 */
export async function exitEvidence(
  services: LaunchServices,
  tmux: TmuxHandle,
  run: Run,
  worker: Worker,
  last: Attention | null,
): Promise<ExitEvidence> {
  const text = await saveScreen(services, tmux, run).catch((error: unknown) => {
    services.log(`the last screen of ${run.id}: ${String(error)}`);
    return "";
  });
  const requested = run.stoppedBy !== null || run.displacedMs !== null;
  const shown = text === null ? null : blockOnScreen(text, worker, last);
  const environment = services.environments.of(worker);
  const onScreen = shown === null ? trustDialogReason(last) : shownWords(shown.line, worker.vendor, environment);
  const onHold = holdReason(last, text === null ? null : onScreen);
  const needsLogin = isStanding(last ?? UNKNOWN) ? last?.reason === "login" : shown?.kind === "login";
  const words = text === null ? null : lastWordsOn(text);
  const conversation = conversationOfRun(services.db, run.id);
  if (conversation !== null) await services.conversations.finalCheckDone(conversation.id);
  const refused = text !== null && onHold === null && (await recordRefusedStart(services, run, text));
  const terminalLost = text === null || (run.exit === 0 && !requested && (await isPaneGoing(tmux, run)));
  const lastWords = words === null ? {} : { lastWords: shownWords(words, worker.vendor, environment) };
  return { refused, needsLogin, exit: run.exit, requested, onHold, terminalLost, ...lastWords };
}

/**
 * Tells whether the pane of a run that ended well is gone a moment later: a server that is being killed hangs up on its panes first and
 * still answers, so an agent that ends well on a hang-up would look as if it had left by itself.
 */
async function isPaneGoing(tmux: TmuxHandle, run: Run): Promise<boolean> {
  await sleep(TMUX_GOING_MS);
  const panes = await tmux.sharedPanes().catch(() => []); // a server that is going does not answer
  return !panes.some((pane) => pane.run === run.id);
}

function blockOnScreen(text: string, worker: Worker, last: Attention | null): BlockedExit | null {
  const adapter = adapterOf(worker.vendor ?? "");
  // A resumed program shows again how earlier turns failed: while none of this run was seen, such a line is history.
  const isHistory = adapter?.liveness.readTurn !== undefined && last?.activity === "idle" && !last.hasWorked;
  const { dialogs, blockedExit } = adapter?.screen ?? {};
  return blockedExitOn(text, {
    ...(dialogs && { dialogs }),
    ...(blockedExit && { blockedExit: isHistory ? { ...blockedExit, marked: [] } : blockedExit }),
  });
}

/** Returns why a run that ended at its trust dialog is not restarted: the dialog would only end it again. */
function trustDialogReason(last: Attention | null): string | null {
  return last?.reason === "trust" ? "it ended at its trust dialog; bring it up, attach to it, and answer" : null;
}
