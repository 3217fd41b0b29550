import { standing } from "../../core/lease.ts";
import type { CallName } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { sha256 } from "../../util/sha256.ts";
import { projectById } from "../../store/projects.ts";
import { runById, runByToken, type Run } from "../../store/runs.ts";
import { workerById } from "../../store/workers.ts";
import type { BaseServices } from "../base-services.ts";
import { forbiddenBy } from "./policy.ts";

/** Who is calling: the person at the machine, or the worker whose token came with the hello. */
export type Actor = { kind: "operator" } | { kind: "worker"; run: Run; address: string; root: string };

/** Calls an agent may make by itself. The rest is the operator's. */
const AGENTS_MAY: ReadonlySet<CallName> = new Set([
  "claim",
  "bind",
  "release",
  "hold",
  "ls",
  "show",
  "history",
  "saved",
  "drill",
  "project",
  "projects",
  "events",
  "status",
  "anchors",
  "send",
  "ask",
  "reply",
  "receive",
  "ack",
  "inbox",
  "pending",
  "mail",
  "cancel",
]);
const CHANGES: ReadonlySet<CallName> = new Set([
  "claim",
  "bind",
  "release",
  "hold",
  "send",
  "ask",
  "reply",
  "receive",
  "ack",
  "cancel",
]);

export function actorOf(services: BaseServices, token: string | null): Actor {
  if (token === null) return { kind: "operator" };
  const run = runByToken(services.db, sha256(token));
  const worker = run ? workerById(services.db, run.workerId) : null;
  const project = worker ? projectById(services.db, worker.projectId) : null;
  if (!run || !worker || !project) {
    throw new PerdureError("refused", "PERDURE_TOKEN is not the token of any run known here.", {
      hint: "unset PERDURE_TOKEN to act as the operator",
    });
  }
  return { kind: "worker", run, address: `${project.slug}/${worker.name}`, root: project.root };
}

/** Every change is fenced here, before its handler: a run that lost its name changes nothing. */
export function authorise(services: BaseServices, actor: Actor, call: CallName): void {
  if (actor.kind === "operator") return;
  if (!AGENTS_MAY.has(call)) {
    throw new PerdureError("refused", `${actor.address} is a worker, and workers may not ${call}.`, {
      hint: "ask the operator to run it",
    });
  }
  const word = forbiddenBy(actor.root, call, services.monotonicMs());
  if (word !== null) {
    throw new PerdureError("refused", `${actor.address} may not ${word}: perdure.toml does not list it.`, {
      hint: `[policy] agents_may, in ${actor.root}/perdure.toml`,
    });
  }
  if (CHANGES.has(call)) assertCurrent(services, actor.run.id, actor.run.generation);
}

/** The same, for a caller that must be the run itself: only its token proves that. */
export function assertOwn(services: BaseServices, claim: { run: string; generation: number; token: string }): void {
  assertCurrent(services, claim.run, claim.generation);
  if (runById(services.db, claim.run)?.tokenHash === sha256(claim.token)) return;
  throw new PerdureError("refused", `That is not the token of ${claim.run}.`, {
    hint: "only a run itself gives its name back",
  });
}

/** Throws unless this run holds its name in exactly this generation, right now. */
export function assertCurrent(services: BaseServices, runId: string, generation: number): void {
  const run = runById(services.db, runId);
  const worker = run ? workerById(services.db, run.workerId) : null;
  if (!run || !worker) {
    throw new PerdureError("stale", `Run ${runId} is not known.`, { hint: "perdure ls" });
  }
  const now = standing(worker.lease, runId, generation);
  if (now === "current") return;
  if (run.displacedBy !== null) {
    throw new PerdureError("displaced", `Run ${runId} was displaced by ${run.displacedBy}.`, {
      hint: "this process no longer owns its name; stop it",
      details: { run: runId, generation, by: run.displacedBy },
    });
  }
  throw new PerdureError(
    "stale",
    `Generation ${generation} of ${runId} is stale; ${worker.name} is at ${worker.lease.generation}.`,
    {
      hint: "perdure history " + worker.name,
      details: { run: runId, generation, current: worker.lease.generation },
    },
  );
}
