import { TURN_TRIES_MAX } from "../../limits/index.ts";
import { statIfThere } from "../../state/files.ts";
import { lastEntryOfRun } from "../../store/conversations.ts";
import type { Run } from "../../store/runs.ts";
import type { Turn } from "../../store/turns.ts";
import { workerById } from "../../store/workers.ts";
import type { TurnOutcome } from "../../vendors/turn.ts";
import type { TurnServices } from "./services.ts";

/** The fate of the messages of a turn. */
export type Judgement =
  | { kind: "answer"; text: string }
  /** No answer can be expected: the messages are dead, with the reason; `onHold` as below. */
  | { kind: "failed"; reason: string; onHold: TurnHold | null }
  /** The messages wait again; `onHold` until somebody has logged in, a limit has passed, or what led it elsewhere is gone. */
  | { kind: "returned"; reason: string; onHold: TurnHold | null }
  /** Somebody has stopped the turn when it had done something already. */
  | { kind: "stopped"; reason: string };

/** The program's own words for what keeps it from turns, until somebody has logged in, or a limit has passed. */
export interface TurnHold {
  reason: string;
  needsLogin: boolean;
}

/** The facts of a turn, beside what its program has printed. */
export interface TurnFacts {
  run: Run;
  turn: Turn;
  /** The program has shown a step of the turn. */
  hasBegun: boolean;
  /** Something was added to the conversation, as far as somebody has looked. */
  hasGrown: boolean;
  /** The turn was stopped because it took too long. */
  isLate: boolean;
  /** How often the first of the messages was offered, this turn included. */
  tries: number;
}

/** Judges what a program has said came of its turn. An answer counts only from the conversation that the turn was begun in. */
export function judgeOutcome(
  services: TurnServices,
  { run, turn, hasBegun }: TurnFacts,
  outcome: TurnOutcome,
): Judgement {
  const { session } = outcome;
  if (session !== null && turn.session !== "" && session !== turn.session) {
    return failedElsewhere(`it was in conversation ${session}, and not in its own`);
  }
  const elsewhere = wrongConversation(services, run);
  if (elsewhere !== null) return failedElsewhere(elsewhere);
  if (outcome.kind === "answer") {
    return outcome.text.trim() === "" ? failed("it ended without an answer") : { kind: "answer", text: outcome.text };
  }
  const { why, blockedBy } = outcome;
  // Said once more after somebody has logged in, a prompt that the agent has begun to act on might be acted on twice.
  const onHold = blockedBy === null ? null : { reason: why, needsLogin: blockedBy === "login" };
  return { kind: onHold !== null && !hasBegun ? "returned" : "failed", reason: why, onHold };
}

/**
 * Judges a turn that was stopped, killed or lost before its program said what came of it. It is made again only if nothing of it shows:
 * said once more, a prompt that an agent has begun to act on might be acted on twice.
 */
export function judgeUnfinished(
  services: TurnServices,
  facts: TurnFacts,
  exit: number | null,
  said: TurnOutcome,
): Judgement {
  const { run, tries } = facts;
  const begun = facts.hasBegun || facts.hasGrown || isLonger(services, facts);
  const isKilled = exit === null || SIGNALLED.has(exit);
  const elsewhere = isKilled ? wrongConversation(services, run) : null;
  if (elsewhere !== null) return { ...failedElsewhere(elsewhere), kind: begun ? "failed" : "returned" };
  // Told before the run is marked as displaced, while its processes live.
  const isTakenOver = services.runs.processesOf(run).length > 0;
  const stopper = run.stoppedBy ?? run.displacedBy ?? (isTakenOver ? "a takeover" : null);
  if (stopper !== null) {
    const reason = `stopped by ${stopper}`;
    if (begun) return { kind: "stopped", reason: `${reason}; it had begun by then` };
    // A program that hangs before it shows anything does so again.
    return facts.isLate && tries >= TURN_TRIES_MAX ? failed(`${reason}, ${tries} times`) : returned(reason);
  }
  if (!isKilled) return judgeOutcome(services, facts, said);
  const how = exit === null ? "killed" : `ended by a signal (exit code ${exit})`;
  if (begun) return failed(`it was ${how} after it had begun${lastWords(services, run)}`);
  return tries < TURN_TRIES_MAX
    ? returned(`it was ${how} before it had begun`)
    : failed(`it was ${how} ${tries} times before it had begun`);
}

/** Fails the turn and holds its worker: what led the program there does so again, and tells a stranger's conversation something. */
function failedElsewhere(reason: string): { kind: "failed"; reason: string; onHold: TurnHold } {
  return { kind: "failed", reason, onHold: { reason, needsLogin: false } };
}

function wrongConversation({ db }: TurnServices, { id }: Run): string | null {
  const proof = lastEntryOfRun(db, id);
  return proof?.proved === "false" ? `it was in a wrong conversation: ${proof.evidence ?? "no evidence"}` : null;
}

/** The exit codes of a program that HUP, INT, QUIT, ABRT, KILL, SEGV or TERM has ended. */
const SIGNALLED: ReadonlySet<number> = new Set([129, 130, 131, 134, 137, 139, 143]);

/** Tells whether the transcript is longer than it was when the program was started. */
function isLonger(services: TurnServices, { run, turn }: TurnFacts): boolean {
  const file = services.conversations.transcriptOf(run.id);
  const size = file === null ? undefined : statIfThere(file)?.size;
  return size !== undefined && size > (turn.bytesBefore ?? 0);
}

function lastWords(services: TurnServices, run: Run): string {
  const worker = workerById(services.db, run.workerId);
  const words = worker && services.conversations.lastWordsOf(run.id, worker);
  return words === null ? "" : `; last in its conversation: ${words}`;
}

function failed(reason: string): Judgement {
  return { kind: "failed", reason, onHold: null };
}

function returned(reason: string): Judgement {
  return { kind: "returned", reason, onHold: null };
}
