import type { Attempts } from "../../core/restart.ts";
import { runsOfWorker } from "../../store/runs.ts";
import type { LaunchServices } from "../launch/services.ts";
import { attemptsOf, RESTART_RULES } from "./restart-rules.ts";
import type { StartedRun } from "./start-in-pane.ts";

/** What is under way for one worker. */
export interface SupervisionState {
  attempts: Attempts;
  timer: NodeJS.Timeout | null;
  starting: Promise<StartedRun | null> | null;
  /** The run whose end was decided about. */
  handledRun: string | null;
  /** Somebody is about to stop it, or to start it: it is not ours to touch. */
  restartsSuspended: boolean;
}

export class SupervisionStates {
  readonly #services: LaunchServices;
  readonly #known = new Map<number, SupervisionState>();

  constructor(services: LaunchServices) {
    this.#services = services;
  }

  /** With what a daemon before this one has counted. */
  of(workerId: number): SupervisionState {
    const known = this.#known.get(workerId);
    if (known) return known;
    const services = this.#services;
    const earlier = runsOfWorker(services.db, workerId, RESTART_RULES.budget);
    const attempts = attemptsOf(earlier, services.now(), services.monotonicMs());
    const state: SupervisionState = {
      attempts,
      timer: null,
      starting: null,
      handledRun: null,
      restartsSuspended: false,
    };
    this.#known.set(workerId, state);
    return state;
  }

  /** Nothing is made for one that nobody has asked about. */
  existing(workerId: number): SupervisionState | undefined {
    return this.#known.get(workerId);
  }

  all(): SupervisionState[] {
    return [...this.#known.values()];
  }
}

export function clearTimer(state: SupervisionState): void {
  if (state.timer) clearTimeout(state.timer);
  state.timer = null;
}
