import { startVerb, toHint, verb, type HintLike } from "../../protocol/hint.ts";
import type { AskedWorker } from "../../protocol/records/mail.ts";
import { commandForNeed, isNeed } from "../../protocol/records/needs.ts";
import type { WorkerSummary } from "../../protocol/records/worker.ts";
import type { Message } from "../../store/messages.ts";
import type { Project } from "../../store/projects.ts";
import type { Worker } from "../../store/workers.ts";
import { describeWorker } from "./describe.ts";
import type { StatusServices } from "./services.ts";

/** Describes the worker that a question is for, to whoever waits for the answer. `name` is what to call it in a command. */
export function describeAsked(
  services: StatusServices,
  project: Project,
  worker: Worker,
  { name, question, isTurn }: { name: string; question: Message; isTurn: boolean },
): AskedWorker {
  const { summary } = describeWorker(services, project, worker);
  const { state, attention, mode } = summary;
  const isNew = worker.fleet === null && worker.command === null && worker.lease.generation === 0;
  const hasProcess = summary.run !== null || services.activities.of(worker.id).run !== null;
  const needsNobody = mode === "turn" || isTurn;
  const staysDown = !hasProcess && (isNeed(state) || state === "paused" || (state === "stopped" && !needsNobody));
  const startsTurn = isTurn && !hasProcess && !staysDown;
  return {
    name: worker.name,
    state,
    attention,
    next: toHint(nextFor(summary, worker, name, { isNew, staysDown })),
    outlook: startsTurn ? "in a turn of its own" : services.mail.outlookOf(worker.id),
    question: question.state,
    staysDown,
    isNew,
  };
}

function nextFor(
  summary: WorkerSummary,
  worker: Worker,
  name: string,
  { isNew, staysDown }: Pick<AskedWorker, "isNew" | "staysDown">,
): HintLike | null {
  if (worker.paused) return verb("pause", name, "--off");
  const known = summary.next ?? commandForNeed(summary, name);
  if (known !== null || !staysDown) return known;
  return startVerb(name, isNew || worker.fleet !== null);
}
