import type { Attempts } from "../../core/restart.ts";
import { runsOfWorker } from "../../store/runs.ts";
import type { LaunchServices } from "../launch/services.ts";
import { attemptsOf, RESTART_RULES } from "./restart-rules.ts";
import type { StartedRun } from "./start-in-pane.ts";

/** The supervision state of one worker. */
export interface SupervisionState {
  attempts: Attempts;
  timer: NodeJS.Timeout | null;
  starting: Promise<StartedRun | null> | null;
  /** The run whose end was handled last. */
  handledRun: string | null;
  /** A run has failed, and what follows is about to be decided: most often another start. */
  isDeciding: boolean;
  /** A caller is about to stop or to start the worker, so the supervisor starts nothing. */
  restartsSuspended: boolean;
}

export class SupervisionStates {
  readonly #services: LaunchServices;
  readonly #known = new Map<number, SupervisionState>();

  constructor(services: LaunchServices) {
    this.#services = services;
  }

  /** Returns the state of the worker, made with the attempts that an earlier daemon counted. */
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
      isDeciding: false,
      restartsSuspended: false,
    };
    this.#known.set(workerId, state);
    return state;
  }

  /** Returns the state of the worker if there is one, and makes none. */
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
