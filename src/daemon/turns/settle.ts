import { MESSAGE_BYTES_MAX } from "../../limits/index.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import { hintOf, verb } from "../../protocol/hint.ts";
import { formatAddress } from "../../protocol/names.ts";
import { setOnHold } from "../../store/fleet.ts";
import { messageById, type Message } from "../../store/messages.ts";
import { projectById } from "../../store/projects.ts";
import type { Run } from "../../store/runs.ts";
import { endTurn, type Turn, type TurnEnd } from "../../store/turns.ts";
import { workerById } from "../../store/workers.ts";
import { recordEvent, recordRunEvent } from "../events.ts";
import { replyTo } from "../mail/reply.ts";
import type { Sender } from "../mail/sender.ts";
import { transition } from "../mail/transition.ts";
import type { Judgement, TurnHold } from "./judge-turn.ts";
import type { TurnServices } from "./services.ts";

/** Applies, inside a change and once, what came of a turn: the answer is sent, or the messages wait again, or they are dead. */
export function settleTurn(services: TurnServices, run: Run, turn: Turn, judgement: Judgement): void {
  const { outcome, reason } = apply(services, run, turn, judgement);
  const nowMs = services.mail.now();
  if (!endTurn(services.db, run.id, { nowMs, outcome, reason }))
    throw new Error(`the turn ${run.id} was settled twice`);
  const ms = Math.max(0, nowMs - turn.startedMs);
  recordRunEvent(services, "turn.ended", run, { ask: turn.ask, outcome, ms, ...(reason !== null && { reason }) });
}

interface Settled {
  outcome: TurnEnd;
  reason: string | null;
}

function apply(services: TurnServices, run: Run, turn: Turn, judgement: Judgement): Settled {
  const messages = turn.messages.map((id) => messageById(services.db, id)).filter((each) => each !== null);
  if (judgement.kind === "answer") return answer(services, run, { turn, messages, text: judgement.text });
  const { reason } = judgement;
  if (judgement.kind !== "stopped" && judgement.onHold !== null) holdWorker(services, run, judgement.onHold);
  if (judgement.kind === "returned") {
    for (const message of messages) move(services, message, "return", run, reason);
    return { outcome: "returned", reason };
  }
  for (const message of messages) move(services, message, "die", run, `in a turn: ${reason}`);
  return { outcome: judgement.kind, reason };
}

function answer(
  services: TurnServices,
  run: Run,
  { turn, messages, text }: { turn: Turn; messages: readonly Message[]; text: string },
): Settled {
  for (const message of messages) {
    move(services, message, "inject", run, "in a turn");
    if (message.id !== turn.ask) move(services, messageById(services.db, message.id) ?? message, "read", run, null);
  }
  const ask = turn.ask === null ? null : messageById(services.db, turn.ask);
  if (ask === null) return { outcome: "done", reason: null };
  // Its agent has replied by itself, or nobody waits for it any more.
  if (ask.state !== "injected") return { outcome: "done", reason: `the ask is ${ask.state}` };
  try {
    // A program can print half of a character, as JSON, and no message has one.
    const body = fitting(text.toWellFormed(), run);
    replyTo(services, senderOf(services, run), ask, {
      id: services.mail.mintId(),
      isFirst: true,
      body,
      attachments: [],
    });
    return { outcome: "answered", reason: null };
  } catch (error) {
    // For example the asker's mailbox is full, or the asker was retired. The refusal came before any change.
    if (!isPerdureError(error)) throw error;
    const reason = `the answer could not be sent: ${error.message}`;
    move(services, ask, "die", run, reason);
    return { outcome: "failed", reason };
  }
}

/** Moves a message that this run was offered; one that was cancelled, has expired or was answered meanwhile stays what it is. */
function move(
  services: TurnServices,
  message: Message,
  event: "inject" | "read" | "return" | "die",
  run: Run,
  reason: string | null,
): void {
  if (message.offerRun === run.id) transition(services, message, event, { run: run.id, reason });
}

/** The sender of an answer is the worker whose turn it was: the run's own lease is what proves it. */
function senderOf(services: TurnServices, run: Run): Sender {
  const worker = workerById(services.db, run.workerId);
  const project = worker && projectById(services.db, worker.projectId);
  if (!worker || !project) throw new Error(`the worker of ${run.id} is gone`);
  return { worker, run, project, name: formatAddress(project.slug, worker.name) };
}

/** Cuts an answer that is longer than a message; the whole of it is in the run's folder. */
function fitting(text: string, run: Run): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MESSAGE_BYTES_MAX) return text;
  const note = `\n[cut here: the answer has ${bytes} bytes, and a message at most ${MESSAGE_BYTES_MAX}; the whole of it is in the log of run ${run.id}]`;
  const kept = Buffer.from(text)
    .subarray(0, MESSAGE_BYTES_MAX - Buffer.byteLength(note))
    .toString("utf8");
  return `${kept.replace(/\uFFFD+$/, "")}${note}`;
}

function holdWorker(services: TurnServices, run: Run, { reason, needsLogin }: TurnHold): void {
  const worker = workerById(services.db, run.workerId);
  if (worker === null) return;
  const { name, id: workerId, projectId } = worker;
  // A turn has no terminal to log in at: opened in a pane, the same program has one.
  const login = hintOf`${verb("attach", name)}, log in there and leave the program; then: ${verb("up", name)}`;
  const next = needsLogin ? login : [verb("up", name)];
  setOnHold(services.db, workerId, { state: "on-hold", reason, next });
  recordEvent(services, "worker.on-hold", { projectId, workerId }, { reason, next });
}
