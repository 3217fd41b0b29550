import { leaseStanding } from "../../core/lease.ts";
import { calls, type CallName } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import type { EnvironmentScope } from "../../protocol/records/environment.ts";
import { hintOf, verb } from "../../protocol/hint.ts";
import { formatAddress } from "../../protocol/names.ts";
import { sha256 } from "../../util/sha256.ts";
import { projectById } from "../../store/projects.ts";
import { runById, runByToken, type Run } from "../../store/runs.ts";
import { workerById } from "../../store/workers.ts";
import type { BaseServices } from "../base-services.ts";
import type { AgentPolicy } from "./policy.ts";

interface PermissionServices extends BaseServices {
  readonly policy: AgentPolicy;
}

/** The caller: the person at the machine, or the worker whose token came with the hello. The transport decides which. */
export type Actor = { kind: "operator" } | { kind: "worker"; run: Run; address: string; root: string };

/** Returns the worker that a token belongs to. A caller without a token is the operator only where nobody else can connect. */
export function workerActor(services: BaseServices, token: string): Actor {
  const run = runByToken(services.db, sha256(token));
  const worker = run ? workerById(services.db, run.workerId) : null;
  const project = worker ? projectById(services.db, worker.projectId) : null;
  if (!run || !worker || !project) {
    throw new PerdureError("refused", "PERDURE_TOKEN is not the token of a known run.", {
      hint: "unset PERDURE_TOKEN to act as the operator",
    });
  }
  return { kind: "worker", run, address: formatAddress(project.slug, worker.name), root: project.root };
}

/** Returns how much of the caller's environment a call gives: an agent's is never that of a person at a terminal, whatever it says. */
export function scopeGivenBy(
  actor: Actor,
  { scope = "known" }: { scope?: EnvironmentScope | undefined },
): EnvironmentScope {
  return actor.kind === "operator" ? scope : "known";
}

/** Refuses calls that agents may not make, and every change by a run that has lost its name. */
export function authorise(services: PermissionServices, actor: Actor, call: CallName): void {
  if (actor.kind === "operator") return;
  const { agentsMay, changes } = calls[call];
  if (agentsMay === false) {
    throw new PerdureError(
      "refused",
      `Only the operator may do that, and ${actor.address} is a worker (the call is ${call}).`,
      {
        hint: hintOf`ask the operator to run it: ${verb("send", "operator", "TEXT")}`,
        details: { operatorOnly: actor.address },
      },
    );
  }
  if (agentsMay !== true && !services.policy.isAllowed(actor.root, agentsMay, services.monotonicMs())) {
    throw new PerdureError("refused", `perdure.toml does not allow ${actor.address} to use "${agentsMay}".`, {
      hint: `[policy] agents_may, in ${actor.root}/perdure.toml`,
    });
  }
  if (changes) assertCurrent(services, actor.run.id, actor.run.generation);
}

/** Throws unless the caller shows the run's token and the run holds its name. */
export function assertOwn(services: BaseServices, claim: { run: string; generation: number; token: string }): void {
  assertCurrent(services, claim.run, claim.generation);
  if (runById(services.db, claim.run)?.tokenHash === sha256(claim.token)) return;
  throw new PerdureError("refused", `That is not the token of ${claim.run}.`, {
    hint: "use the token that the claim of this run returned",
  });
}

/** Throws unless the run holds its name now, in exactly this generation. */
export function assertCurrent(services: BaseServices, runId: string, generation: number): void {
  const run = runById(services.db, runId);
  const worker = run ? workerById(services.db, run.workerId) : null;
  if (!run || !worker) {
    throw new PerdureError("stale", `There is no run ${runId}.`, { hint: verb("ls") });
  }
  const now = leaseStanding(worker.lease, runId, generation);
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
      hint: verb("history", worker.name),
      details: { run: runId, generation, current: worker.lease.generation },
    },
  );
}
