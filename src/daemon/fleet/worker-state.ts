import type { Attempts } from "../../core/restart.ts";
import { runsOfWorker } from "../../store/runs.ts";
import type { House } from "../services.ts";
import { attemptsIn, RULES } from "./restart-rules.ts";
import type { Started } from "./start-in-pane.ts";

/** What is under way for one worker. */
export interface Care {
  attempts: Attempts;
  timer: NodeJS.Timeout | null;
  starting: Promise<Started | null> | null;
  /** The run whose end was decided about. */
  decided: string | null;
  /** Somebody is about to stop it, or to start it: it is not ours to touch. */
  resting: boolean;
}

export class Cares {
  readonly #house: () => House;
  readonly #known = new Map<number, Care>();

  constructor(house: () => House) {
    this.#house = house;
  }

  /** With what a daemon before this one has counted. */
  of(workerId: number): Care {
    const known = this.#known.get(workerId);
    if (known) return known;
    const house = this.#house();
    const earlier = runsOfWorker(house.db, workerId, RULES.budget);
    const attempts = attemptsIn(earlier, house.now(), house.monotonicMs());
    const care: Care = { attempts, timer: null, starting: null, decided: null, resting: false };
    this.#known.set(workerId, care);
    return care;
  }

  /** Nothing is made for one that nobody has asked about. */
  ifAny(workerId: number): Care | undefined {
    return this.#known.get(workerId);
  }

  all(): Care[] {
    return [...this.#known.values()];
  }
}

export function clearTimer(care: Care): void {
  if (care.timer) clearTimeout(care.timer);
  care.timer = null;
}
