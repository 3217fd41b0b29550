import { statSync } from "node:fs";
import { startHangTimer, hungForMs, tickHangTimer, type HangTimer, type HangRules } from "../../core/hang.ts";
import { HUNG_AFTER_MS, RUN_POLL_MS } from "../../limits/index.ts";
import type { Sign } from "../../protocol/records/conversation.ts";
import type { Run } from "../../store/runs.ts";
import type { ConversationServices } from "./services.ts";
import { publishRunEvent } from "../events.ts";

const RULES: HangRules = {
  everyMs: RUN_POLL_MS,
  // Tests do not wait for minutes.
  hungAfterMs: Number(process.env.PERDURE_HUNG_AFTER_MS) || HUNG_AFTER_MS,
};

/** Whether one run's agent is at work and shows nothing of it: no hook, no sign, no growing transcript, no new title. */
export class HangDetector {
  readonly #services: ConversationServices;
  #timer: HangTimer;
  /** What came by itself: hooks, titles, what the program told. */
  #activityCount = 0;

  constructor(services: ConversationServices) {
    this.#services = services;
    this.#timer = startHangTimer("", services.monotonicMs());
  }

  noteActivity(): void {
    this.#activityCount++;
  }

  /** Null as long as nobody need worry. */
  get hungMs(): number | null {
    return hungForMs(this.#timer, RULES);
  }

  /** Tells once of each spell. */
  async poll(run: Run, busy: boolean, signs: readonly Sign[], transcript: string | null): Promise<void> {
    const before = this.hungMs;
    const seen = busy ? JSON.stringify([this.#activityCount, signs, transcript && fileVersion(transcript)]) : "";
    this.#timer = tickHangTimer(this.#timer, busy, seen, this.#services.monotonicMs(), RULES);
    const { hungMs } = this;
    if (before === null && hungMs !== null)
      await publishRunEvent(this.#services, run, "worker.hung", { ms: Math.round(hungMs) });
  }
}

function fileVersion(file: string): number[] {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat ? [stat.size, stat.mtimeMs] : [];
}
