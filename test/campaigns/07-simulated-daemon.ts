import { startTimer, tick, type AwakeTimer } from "../../src/core/awake-timer.ts";
import { nextEpoch } from "../../src/core/epoch.ts";
import { claimLease, endLease, leaseStanding, type LeaseState } from "../../src/core/lease.ts";
import { CLIENT_ABSENCE_MS, RUN_POLL_MS } from "../../src/limits/index.ts";
import { epochKey, formatRunId } from "../../src/protocol/run-id.ts";
import { check, pick, whole } from "../support/check.ts";

export interface Tally {
  runs: number;
  expired: number;
  jumps: number;
  stalls: number;
  restarts: number;
  forgotten: number;
}

/** A client's claim as its own process sees it. */
interface Holder {
  run: string;
  alive: boolean;
  /** Null while it is connected. */
  absence: AwakeTimer | null;
  /** How long the daemon has been awake, looking, while it was away. */
  awakeAwayMs: number;
}

interface Worker {
  name: string;
  lease: LeaseState;
  holder: Holder | null;
}

const NAMES = ["coder", "coder.1", "coder-1", "Coder", "b"];
/** A gap between two looks that is longer than this was a sleep, not a busy moment. */
const AWAKE_GAP_MS = 2 * RUN_POLL_MS;
const STALL_MS_MAX = 48 * 3_600_000;

/**
 * The daemon's rules for client leases, run by clocks that do what they like. The wall clock jumps; the monotonic
 * clock only stalls (nobody looks, time goes on) and begins anew with the daemon.
 */
export class SimulatedDaemon {
  readonly #random: () => number;
  readonly #tally: Tally;
  readonly #workers: Worker[] = NAMES.map((name) => ({ name, lease: { phase: "free", generation: 0 }, holder: null }));
  readonly #epochs = new Map<string, number>();
  readonly #ids = new Set<string>();
  #floor = 0;
  #wallMs = 1_700_000_000_000;
  #monotonicMs = 0;

  constructor(random: () => number, tally: Tally) {
    this.#random = random;
    this.#tally = tally;
  }

  step(jumpsMs: readonly number[]): void {
    const dice = this.#random();
    if (dice < 0.1) this.#jump(pick(this.#random, jumpsMs));
    else if (dice < 0.14) this.#stall();
    else if (dice < 0.16) this.#restart();
    else if (dice < 0.2) this.#forget();
    else if (dice < 0.6) this.#passAwake(1 + whole(this.#random, 20));
    else this.#act(pick(this.#random, this.#workers));
  }

  #jump(byMs: number): void {
    this.#wallMs += byMs;
    this.#tally.jumps++;
  }

  /** The machine sleeps or the daemon is stopped: the next look comes late. */
  #stall(): void {
    this.#pass(AWAKE_GAP_MS + whole(this.#random, STALL_MS_MAX));
    this.#poll(0);
    this.#tally.stalls++;
  }

  #restart(): void {
    this.#monotonicMs = whole(this.#random, 100);
    for (const { holder } of this.#workers) if (holder) this.#goAway(holder);
    this.#tally.restarts++;
  }

  /** Forgets epochs as the store does: the lowest go, the highest of those stays behind as the floor. */
  #forget(): void {
    const lowest = [...this.#epochs].toSorted(([, a], [, b]) => a - b)[0];
    if (!lowest) return;
    this.#floor = Math.max(this.#floor, lowest[1]);
    for (const [key, last] of this.#epochs) if (last <= lowest[1]) this.#epochs.delete(key);
    this.#tally.forgotten++;
  }

  #passAwake(polls: number): void {
    for (let poll = 0; poll < polls; poll++) {
      const gap = RUN_POLL_MS + whole(this.#random, RUN_POLL_MS / 2);
      this.#pass(gap);
      this.#poll(gap);
    }
  }

  #pass(ms: number): void {
    this.#monotonicMs += ms;
    this.#wallMs += ms;
  }

  #act(worker: Worker): void {
    const { holder } = worker;
    const dice = this.#random();
    if (holder === null || dice < 0.2) this.#claim(worker);
    else if (dice < 0.3) this.#letGo(worker, holder);
    else if (dice < 0.4) holder.alive = false;
    else if (dice < 0.7) this.#goAway(holder);
    else if (holder.alive) holder.absence = null;
  }

  #claim(worker: Worker): void {
    const key = epochKey("vm", "api", worker.name);
    const epoch = nextEpoch(this.#wallMs, this.#epochs.get(key) ?? null, this.#floor);
    const run = formatRunId({ host: "vm", project: "api", worker: worker.name, epoch });
    const living = worker.holder?.alive ?? false;
    const decision = claimLease(worker.lease, run, living);
    check(
      decision.granted === !living,
      `a claim was ${decision.granted ? "granted" : "refused"} against the holder's life`,
    );
    if (!decision.granted) return;
    check(!this.#ids.has(run.toLowerCase()), `run id ${run} was given out twice`);
    this.#ids.add(run.toLowerCase());
    this.#epochs.set(key, epoch);
    check(decision.lease.generation > worker.lease.generation, "the generation did not rise");
    worker.lease = decision.lease;
    worker.holder = { run, alive: true, absence: null, awakeAwayMs: 0 };
    this.#tally.runs++;
  }

  #letGo(worker: Worker, holder: Holder): void {
    worker.lease = endLease(worker.lease, holder.run);
    worker.holder = null;
    check(worker.lease.phase === "free", "a released name is not free");
  }

  #goAway(holder: Holder): void {
    holder.absence = startTimer(this.#monotonicMs);
    holder.awakeAwayMs = 0;
  }

  /** `awakeMs` of the time since the last look were spent awake. */
  #poll(awakeMs: number): void {
    for (const worker of this.#workers) {
      const { holder } = worker;
      if (holder === null) continue;
      check(
        leaseStanding(worker.lease, holder.run, worker.lease.generation) === "current",
        `${holder.run} lost its name by itself`,
      );
      if (!holder.alive) this.#letGo(worker, holder);
      else if (holder.absence !== null) this.#lookAt(worker, holder, holder.absence, awakeMs);
    }
  }

  #lookAt(worker: Worker, holder: Holder, before: AwakeTimer, awakeMs: number): void {
    holder.awakeAwayMs += awakeMs;
    holder.absence = tick(before, this.#monotonicMs, RUN_POLL_MS);
    const expired = holder.absence.awakeMs >= 2 * CLIENT_ABSENCE_MS;
    const away = `away for ${holder.awakeAwayMs} ms awake`;
    if (expired) {
      check(holder.awakeAwayMs >= CLIENT_ABSENCE_MS, `${holder.run} expired early: ${away}`);
      this.#tally.expired++;
      this.#letGo(worker, holder);
    } else {
      check(holder.awakeAwayMs < 2 * (CLIENT_ABSENCE_MS + AWAKE_GAP_MS), `${holder.run} is stuck: ${away}`);
    }
  }
}
