import type { ProcessInfo } from "../../runtime/process/index.ts";
import type { Run } from "../../store/runs.ts";
import type { House } from "../services.ts";
import { tellOfRun } from "./identity.ts";

type Looked = Pick<House, "processes" | "sessions">;

/** The wrapper, or the agent, or, where no adapter knows which that is, whatever the wrapper has started. */
export function isSuspended({ processes, sessions }: Looked, run: Run, live: readonly ProcessInfo[]): boolean {
  if (live.some(({ suspended }) => suspended)) return true;
  if (run.kind === "client") return false;
  const agent = sessions.agentOf(run.id);
  if (agent !== null) {
    const now = processes.look(agent.pid);
    return now?.startedAt === agent.startedAt && now.suspended;
  }
  // Without a wrapper, those that live on are all there is.
  if (live.every(({ pid }) => pid !== run.pid)) return false;
  return processes.children(run.pid).some((pid) => processes.look(pid)?.suspended === true);
}

/** Tells once of each spell, so that `events -f` shows it. */
export class SuspendedWatch {
  readonly #house: () => House;
  readonly #told = new Set<string>();

  constructor(house: () => House) {
    this.#house = house;
  }

  looked(run: Run, live: readonly ProcessInfo[]): void {
    const house = this.#house();
    const suspended = isSuspended(house, run, live);
    if (suspended === this.#told.has(run.id)) return;
    if (suspended) this.#told.add(run.id);
    else this.#told.delete(run.id);
    if (!suspended) return;
    tellOfRun(house, run, "worker.suspended").catch((error: unknown) => {
      house.log(`${run.id} is suspended, which could not be told: ${String(error)}`);
    });
  }

  ended(run: string): void {
    this.#told.delete(run);
  }
}
