import { rmSync } from "node:fs";
import { lastEntryOfRun, setProof } from "../../../store/conversations.ts";
import { runById } from "../../../store/runs.ts";
import type { ChangeServices } from "../../base-services.ts";
import { recordRunEvent } from "../../events.ts";

/**
 * Remembers that a hook could not write what it told, because the disk was full: the agent may have changed its conversation, and until
 * it shows where it is, nobody knows. The hook's file stays meanwhile, so that the next daemon doubts as well.
 */
export class LostEvents {
  #file: string | null = null;

  get isDoubtful(): boolean {
    return this.#file !== null;
  }

  /** Returns whether the file is news. */
  note(file: string): boolean {
    if (this.#file === file) return false;
    this.settle();
    this.#file = file;
    return true;
  }

  noteAll(files: readonly { sign: unknown; file: string }[]): void {
    for (const { sign, file } of files) if (sign === null) this.note(file);
  }

  /** The agent has shown, since then, which conversation it has open. */
  settle(): void {
    if (this.#file !== null) rmSync(this.#file, { force: true });
    this.#file = null;
  }
}

/** Records, inside the change that ends the run, that nobody knows which conversation its agent was in last. */
export function recordDoubt(services: ChangeServices, runId: string): void {
  const run = runById(services.db, runId);
  if (run === null || lastEntryOfRun(services.db, runId)?.proved !== "true") return;
  const evidence = "a hook could not write what it was told, because the disk was full";
  setProof(services.db, { runId, proved: "pending", evidence, provedMs: null });
  recordRunEvent(services, "session.doubtful", run, { evidence });
}
