import { startHangTimer, hungForMs, tickHangTimer, type HangTimer } from "../../src/core/hang.ts";
import { HUNG_AFTER_MS, RUN_POLL_MS } from "../../src/limits/index.ts";
import { check, pick, whole } from "../support/check.ts";

export interface HangTally {
  looks: number;
  spells: number;
  flagged: number;
  stalls: number;
  idleHours: number;
}

const RULES = { everyMs: RUN_POLL_MS, hungAfterMs: HUNG_AFTER_MS };
const HOUR_MS = 3_600_000;
const STALL_MS_MAX = 48 * HOUR_MS;
/** A gap that is longer than this was a sleep. */
const AWAKE_GAP_MS = 2 * RUN_POLL_MS;

type Mood = "idle" | "working" | "hung";

/** One agent, looked at as the daemon does, and what is true of it. */
class Agent {
  readonly mood: Mood;
  silence: HangTimer = startHangTimer("", 0);
  /** Anything that it shows: a number that changes. */
  signs = 0;
  /** The agent's own time since the last sign, sleep not counted; and what sleeps may have added to our count of it. */
  awakeMs = 0;
  sleptMs = 0;
  nextSignMs = 0;
  wasFlagged = false;

  constructor(mood: Mood) {
    this.mood = mood;
  }
}

/** A model of a day with several agents: some wait for somebody, some work and show it now and then, some have stopped for good. */
export class HangModel {
  readonly #random: () => number;
  readonly #tally: HangTally;
  readonly #agents: Agent[];
  #nowMs = 0;

  constructor(random: () => number, tally: HangTally, agents: number) {
    this.#random = random;
    this.#tally = tally;
    this.#agents = Array.from({ length: agents }, () => new Agent(pick(random, ["idle", "working", "hung"])));
    for (const agent of this.#agents) agent.nextSignMs = this.#pause();
  }

  /** An hour awake, with sleeps in between. */
  hour(): void {
    for (let awakeMs = 0; awakeMs < HOUR_MS;) {
      if (this.#random() < 0.002) this.#sleep();
      const gap = RUN_POLL_MS + whole(this.#random, RUN_POLL_MS / 2);
      awakeMs += gap;
      this.#nowMs += gap;
      for (const agent of this.#agents) this.#look(agent, gap);
    }
    this.#tally.idleHours += this.#agents.filter(({ mood }) => mood === "idle").length;
    for (const { mood, wasFlagged } of this.#agents) check(mood !== "hung" || wasFlagged, "a hung one was not found");
  }

  #sleep(): void {
    this.#nowMs += AWAKE_GAP_MS + whole(this.#random, STALL_MS_MAX);
    for (const agent of this.#agents) this.#look(agent, 0);
    this.#tally.stalls++;
  }

  /** The pause until the next sign of an agent at work: even the longest build ends before anybody would worry. */
  #pause(): number {
    return 1 + whole(this.#random, HUNG_AFTER_MS - 10 * 60_000);
  }

  #look(agent: Agent, awakeMs: number): void {
    const { mood } = agent;
    agent.awakeMs += awakeMs;
    if (awakeMs === 0) agent.sleptMs += AWAKE_GAP_MS;
    if (mood === "working" && agent.awakeMs >= agent.nextSignMs) this.#sign(agent);
    agent.silence = tickHangTimer(agent.silence, mood !== "idle", `${agent.signs}`, this.#nowMs, RULES);
    const hungMs = hungForMs(agent.silence, RULES);
    this.#tally.looks++;
    if (hungMs !== null && !agent.wasFlagged) this.#tally.flagged++;
    if (hungMs !== null) agent.wasFlagged = true;
    const seen = `${mood}, ${agent.awakeMs} ms awake without a sign, looked at ${this.#nowMs}: ${hungMs}`;
    check(mood === "hung" || hungMs === null, `a false alarm: ${seen}`);
    check(hungMs === null || agent.awakeMs + agent.sleptMs >= HUNG_AFTER_MS, `too early: ${seen}`);
    check(hungMs !== null || mood !== "hung" || agent.awakeMs < HUNG_AFTER_MS + 2 * AWAKE_GAP_MS, `too late: ${seen}`);
    // Somebody has looked after it; it works for a moment and then hangs again.
    if (hungMs !== null && this.#random() < 0.01) this.#sign(agent);
  }

  #sign(agent: Agent): void {
    agent.signs++;
    agent.awakeMs = agent.sleptMs = 0;
    agent.nextSignMs = this.#pause();
    if (agent.mood === "hung") this.#tally.spells++;
  }
}
