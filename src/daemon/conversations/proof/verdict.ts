import { commandText, verb } from "../../../protocol/hint.ts";
import { RUN_FILE_BYTES_MAX } from "../../../limits/index.ts";
import { closeSync, constants, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { parseExitCode } from "../../../core/run-end.ts";
import { formatAddress } from "../../../protocol/names.ts";
import type { Transcript } from "../../../protocol/records/conversation.ts";
import { EXIT_FILE, VERDICT_FIFO, VERDICT_FILE } from "../../../runtime/wrapper/script.ts";
import { readIfReadable } from "../../../state/bounded-read.ts";
import { isErrno, writeFileAtomic } from "../../../state/files.ts";
import { conversationOfRun, lastEntryOfRun, type Conversation } from "../../../store/conversations.ts";
import { projectById } from "../../../store/projects.ts";
import type { Run } from "../../../store/runs.ts";
import { workerById } from "../../../store/workers.ts";
import { probeConversation } from "../probe/probe.ts";
import { finishProof, isHeadless, wasInterrupted } from "./proof.ts";
import type { ConversationServices } from "../services.ts";

// The wrapper of a headless run asks, at the end of its program, whether that was in the right conversation: the daemon answers by
// a file in the run's folder. Whoever reads the exit code then learns it at once, and not from the history.

/**
 * Judges a headless run whose program has ended, while its wrapper still waits. Returns the transcript that was found, so that the
 * final check need not look again; null where nobody looked, or somebody else may still write.
 */
export async function judgeEnd(
  services: ConversationServices,
  run: Run,
  applyFinalSigns: (exit: number | null) => void,
  hadForeignOpener: (conversation: Conversation) => Promise<boolean>,
): Promise<Transcript | null> {
  const exit = parseExitCode(readIfReadable(join(services.runs.runDir(run.id), EXIT_FILE), RUN_FILE_BYTES_MAX));
  await services.writer.write(() => applyFinalSigns(exit));
  const conversation = conversationOfRun(services.db, run.id);
  if (conversation === null || lastEntryOfRun(services.db, run.id)?.proved === "false") return null;
  // What the program left behind may still write. The wrapper's own children are its timer and its tools.
  const isOther = ({ pid, parentPid }: { pid: number; parentPid: number }): boolean =>
    pid !== run.pid && parentPid !== run.pid;
  if (services.runs.processesAtEnd(run).some(isOther)) return null;
  const transcript = await probeConversation(services, conversation);
  const interrupted = wasInterrupted(services, run);
  const facts = { exit, interrupted, mustBeWritten: false, hadForeignOpener: await hadForeignOpener(conversation) };
  await services.writer.write(() => finishProof(services, run, transcript, facts));
  return transcript;
}

/** Leaves the verdict where the wrapper looks for it, as soon as there is one; with `final` also that there is none. */
export function leaveVerdict(services: ConversationServices, run: Run, final: boolean): void {
  const worker = workerById(services.db, run.workerId);
  const entry = lastEntryOfRun(services.db, run.id);
  if (!worker || !entry || !isHeadless(worker, run) || run.pane !== null) return;
  if (entry.proved === "pending" && !final) return;
  const folder = services.runs.runDir(run.id);
  const line = entry.proved === "false" ? `${wrongConversation(services, run, entry.evidence ?? "nothing")}\n` : "";
  try {
    writeFileAtomic(join(folder, VERDICT_FILE), `${entry.proved}\n${line}`);
    wake(join(folder, VERDICT_FIFO));
  } catch (error) {
    services.log(`the verdict on ${run.id} could not be left: ${String(error)}`); // its wrapper waits no longer than a second
  }
}

/** Removes the fifo at which the wrapper of a run waited for the verdict: nobody would wake a later reader of it. */
export function clearVerdictWait(folder: string): void {
  rmSync(join(folder, VERDICT_FIFO), { force: true });
}

/** Says what was expected, what was found, and what to do. The evidence may come from a vendor's file. */
function wrongConversation(services: ConversationServices, run: Run, evidence: string): string {
  const worker = workerById(services.db, run.workerId);
  const conversation = conversationOfRun(services.db, run.id);
  const address = worker && formatAddress(projectById(services.db, worker.projectId)?.slug ?? "", worker.name);
  const expected = `${address} should have been in ${conversation?.vendor} conversation ${conversation?.vendorId}`;
  const said = `perdure: ${expected}, but was not: ${evidence}. → ${commandText(verb("history", worker?.name ?? "NAME"))}`;
  return said.replaceAll(/\p{C}/gu, "?");
}

/** Wakes the wrapper that waits at the fifo. If no wrapper waits, there is no fifo, or nobody has it open, and nothing is done. */
function wake(fifo: string): void {
  try {
    const fd = openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
    try {
      writeSync(fd, "\n");
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (!isErrno(error, "ENOENT", "ENXIO", "EPIPE", "EAGAIN")) throw error;
  }
}
