import {
  decideRestart,
  NO_ATTEMPTS,
  attemptsFromAges,
  recordStart,
  type Attempts,
  type RestartEvidence,
  type RestartPolicy,
  type RestartRules,
} from "../../src/core/restart.ts";
import {
  HEALTHY_RUN_MS,
  RESTART_BUDGET,
  RESTART_WAIT_MS,
  RESTART_WAIT_MS_MAX,
  RESTART_WINDOW_MS,
} from "../../src/limits/index.ts";
import { check, pick, whole } from "../support/check.ts";

export interface RestartTally {
  starts: number;
  again: number;
  crashLooping: number;
  left: number;
  onHold: number;
  stalls: number;
  daemons: number;
  persons: number;
}

const RULES: RestartRules = {
  budget: RESTART_BUDGET,
  windowMs: RESTART_WINDOW_MS,
  firstWaitMs: RESTART_WAIT_MS,
  longestWaitMs: RESTART_WAIT_MS_MAX,
  healthyMs: HEALTHY_RUN_MS,
};
const POLICIES: readonly RestartPolicy[] = ["never", "on-failure", "always"];
const TEN_MINUTES_MS = 600_000;
const STALL_MS_MAX = 48 * 3_600_000;

/** A second count of what the restart rules should do, from nothing but what happened. */
export class RestartModel {
  readonly #random: () => number;
  readonly #tally: RestartTally;
  readonly #policy: RestartPolicy;
  #attempts: Attempts = NO_ATTEMPTS;
  #nowMs = 0;
  /** Starts since a person last had a hand in it, by the clock that goes on. */
  #starts: number[] = [];
  /** Ends in a row that were not after a healthy spell; null when a daemon came that did not see them all. */
  #failures: number | null = 0;

  constructor(random: () => number, tally: RestartTally) {
    this.#random = random;
    this.#tally = tally;
    this.#policy = pick(random, POLICIES);
  }

  /** Random uptimes, ends, sleeps and daemons; a person comes back now and then. */
  play(ends: number): void {
    for (let n = 0; n < ends; n++) {
      this.#start();
      const ranMs = this.#uptime();
      this.#nowMs += ranMs;
      if (this.#random() < 0.1) this.#stall();
      if (this.#random() < 0.1) this.#anotherDaemon();
      if (!this.#end(this.#ending())) this.#person();
    }
  }

  /** An agent that exits at once, for ten minutes: how often it was started. */
  static exitsAtOnce(random: () => number, tally: RestartTally): number {
    const model = new RestartModel(random, tally);
    while (model.#nowMs < TEN_MINUTES_MS) {
      model.#start();
      model.#nowMs += whole(random, 200);
      const again = model.#end({ exit: 1, requested: false, onHold: null, terminalLost: false }, "on-failure");
      if (!again) break;
    }
    return model.#starts.length;
  }

  #start(): void {
    this.#attempts = recordStart(this.#attempts, this.#nowMs, RULES);
    this.#starts.push(this.#nowMs);
    this.#tally.starts++;
    const inWindow = this.#inWindow();
    check(inWindow <= RULES.budget, `${inWindow} starts within ${RULES.windowMs} ms, and nobody was asked`);
  }

  #inWindow(): number {
    return this.#starts.filter((at) => this.#nowMs - at < RULES.windowMs).length;
  }

  /** Mostly at once, sometimes within a minute or two, sometimes a day's work. */
  #uptime(): number {
    const dice = this.#random();
    if (dice < 0.7) return whole(this.#random, 3_000);
    if (dice < 0.9) return whole(this.#random, HEALTHY_RUN_MS);
    return HEALTHY_RUN_MS + whole(this.#random, 24 * 3_600_000);
  }

  #ending(): Omit<RestartEvidence, "ranMs"> {
    const exit = pick(this.#random, [0, 1, 1, 2, 137, null]);
    const dice = this.#random();
    return {
      exit,
      requested: dice < 0.05,
      onHold: dice > 0.97 ? "not logged in" : null,
      terminalLost: dice > 0.5 && dice < 0.55,
    };
  }

  /** The machine slept, or nobody looked: the end is seen late. */
  #stall(): void {
    this.#nowMs += whole(this.#random, STALL_MS_MAX);
    this.#tally.stalls++;
  }

  /** Starts a new daemon, which knows what the store has: when the last runs began. */
  #anotherDaemon(): void {
    const agesMs = this.#starts.slice(-RULES.budget).map((at) => this.#nowMs - at);
    this.#attempts = attemptsFromAges(agesMs.toReversed(), this.#nowMs, RULES);
    this.#failures = null;
    this.#tally.daemons++;
  }

  /** Returns whether the worker is started again by itself; time goes on until then. */
  #end(ending: Omit<RestartEvidence, "ranMs">, policy = this.#policy): boolean {
    const ranMs = this.#nowMs - (this.#starts.at(-1) ?? 0);
    const healthy = ranMs >= RULES.healthyMs;
    const random = this.#random();
    const outcome = decideRestart(this.#attempts, { ...ending, ranMs }, policy, this.#nowMs, random, RULES);
    this.#attempts = outcome.attempts;
    const { decision } = outcome;
    const seen = `${JSON.stringify(ending)} after ${ranMs} ms under ${policy}: ${JSON.stringify(decision)}`;
    check(decision.kind === expectedKind(ending, policy, healthy ? 0 : this.#inWindow()), seen);
    if (decision.kind === "none") this.#tally.left++;
    if (decision.kind === "on-hold") this.#tally.onHold++;
    if (decision.kind === "crash-looping") this.#tally.crashLooping++;
    if (decision.kind !== "restart") return false;
    this.#tally.again++;
    this.#checkWait(decision.inMs, random, healthy);
    this.#nowMs += decision.inMs;
    return true;
  }

  #checkWait(inMs: number, random: number, healthy: boolean): void {
    check(inMs >= 0.75 * RULES.firstWaitMs && inMs <= 1.25 * RULES.longestWaitMs, `a wait of ${inMs} ms`);
    if (healthy) this.#failures = 1;
    else if (this.#failures !== null) this.#failures++;
    // How far another daemon was in counting, only that one knew.
    if (this.#failures === null) return;
    const middle = Math.min(RULES.longestWaitMs, RULES.firstWaitMs * 2 ** (this.#failures - 1));
    check(inMs === middle * (0.75 + random / 2), `${inMs} ms to wait after ${this.#failures} ends in a row`);
  }

  /** Looks at what is wrong, and brings it up. */
  #person(): void {
    this.#nowMs += whole(this.#random, 60_000);
    this.#attempts = NO_ATTEMPTS;
    this.#starts = [];
    this.#failures = 0;
    this.#tally.persons++;
  }
}

function expectedKind(
  { requested, onHold, exit, terminalLost }: Omit<RestartEvidence, "ranMs">,
  policy: RestartPolicy,
  inWindow: number,
): string {
  if (requested) return "none";
  if (onHold !== null) return "on-hold";
  if (policy === "never" || (policy === "on-failure" && exit === 0 && !terminalLost)) return "none";
  return inWindow >= RULES.budget ? "crash-looping" : "restart";
}
