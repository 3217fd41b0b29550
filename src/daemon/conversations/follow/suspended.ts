import type { ProcessInfo } from "../../../runtime/process/index.ts";
import type { Run } from "../../../store/runs.ts";
import type { BaseServices } from "../../base-services.ts";
import { publishRunEvent } from "../../events.ts";
import { isOnlyRecorded } from "../../runs/elsewhere.ts";
import type { ConversationTracker } from "./tracker.ts";

interface SuspensionServices extends Pick<BaseServices, "processes"> {
  readonly conversations: Pick<ConversationTracker, "agentOf">;
}

/** Tells whether the wrapper is suspended, or the agent, or, where no adapter knows the agent, a child of the wrapper. */
export function isSuspended(
  { processes, conversations }: SuspensionServices,
  run: Run,
  live: readonly ProcessInfo[],
): boolean {
  if (live.some(({ suspended }) => suspended)) return true;
  if (run.kind === "client" || live.some((each) => isOnlyRecorded(processes, each))) return false;
  const agent = conversations.agentOf(run.id);
  if (agent !== null) {
    const now = processes.inspect(agent.pid);
    return now?.startedAt === agent.startedAt && now.suspended;
  }
  // Without a wrapper the survivors, which were checked above, are all there is.
  if (live.every(({ pid }) => pid !== run.pid)) return false;
  return processes.children(run.pid).some((pid) => processes.inspect(pid)?.suspended === true);
}

/** Publishes one event for each time a run is suspended, so that `events -f` shows it. */
export class SuspendedWatch {
  readonly #services: BaseServices & SuspensionServices;
  readonly #suspended = new Set<string>();

  constructor(services: BaseServices & SuspensionServices) {
    this.#services = services;
  }

  polled(run: Run, live: readonly ProcessInfo[]): void {
    const suspended = isSuspended(this.#services, run, live);
    if (suspended === this.#suspended.has(run.id)) return;
    if (suspended) this.#suspended.add(run.id);
    else this.#suspended.delete(run.id);
    if (!suspended) return;
    publishRunEvent(this.#services, run, "worker.suspended").catch((error: unknown) => {
      this.#services.log(`${run.id} is suspended, and no event could be written: ${String(error)}`);
    });
  }

  ended(run: string): void {
    this.#suspended.delete(run);
  }
}
