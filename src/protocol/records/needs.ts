import { verb, type Hint, type HintCommand } from "../hint.ts";
import type { WorkerState, WorkerSummary } from "./worker.ts";

/** The kinds of need: one of four states of a worker, or mail to the operator. */
export const NEED_KINDS = ["blocked", "on-hold", "crash-looping", "unresumable", "mail"] as const;

export type NeedKind = (typeof NEED_KINDS)[number];

/** Whether a state needs somebody, for everybody who tells of it, waits for it or counts it. */
export function isNeed(state: string): state is NeedKind {
  return NEED_KINDS.some((kind) => kind === state);
}

const VERBS: Partial<Record<WorkerState, string>> = {
  blocked: "attach",
  "crash-looping": "logs",
  "on-hold": "up",
  unresumable: "drill",
};

/**
 * Returns the command for a worker that needs somebody; null for one that needs nobody, or only time (backing off, starting).
 * `name` is what to call the worker in the command.
 */
export function commandForNeed(
  worker: Pick<WorkerSummary, "state" | "mode" | "run" | "attention">,
  name: string,
): HintCommand | null {
  const { state, mode, run, attention } = worker;
  const action = VERBS[state] ?? (run !== null && attention !== null ? "show" : undefined);
  if (action === undefined) return null;
  // A worker in a terminal of its own has no pane to attach to.
  return verb(action === "attach" && mode !== "tmux" ? "show" : action, name);
}

/** A notice as a program of the user's gets it, in JSON, on its standard input. */
export interface NoticeRecord {
  schemaVersion: 1;
  /** `went-on`: the worker that was told of before needs nobody any more. */
  event: "needs-you" | "went-on" | "test";
  /** The worker's address; of mail, the address of its sender. */
  address: string;
  project: string;
  /** The state that needs somebody, or `mail`; after it, the state that the worker is in now. */
  state: WorkerState | "mail" | "test";
  reason: string | null;
  /** The command that helps, as text and as its parts. */
  hint: string | null;
  next: Hint;
  since: string;
}

/** How a notice fared in one channel; null for one that is not used. */
export interface NoticeOutcome {
  channel: "command" | "ntfy" | "bell";
  ok: boolean;
  /** The reason of a failure, or what was done. */
  detail: string;
  /** Set where the channel works, and nobody was there to be told. */
  reached?: 0;
}
