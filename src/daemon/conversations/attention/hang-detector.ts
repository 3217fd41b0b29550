import { startHangTimer, hungForMs, tickHangTimer, type HangTimer, type HangRules } from "../../../core/hang.ts";
import { HUNG_AFTER_MS, RUN_POLL_MS } from "../../../limits/index.ts";
import type { Sign } from "../../../protocol/records/conversation.ts";
import { statIfThere } from "../../../state/files.ts";
import type { Run } from "../../../store/runs.ts";
import { publishRunEvent } from "../../events.ts";
import type { ConversationServices } from "../services.ts";

const RULES: HangRules = {
  everyMs: RUN_POLL_MS,
  // Tests set a shorter time.
  hungAfterMs: Number(process.env.PERDURE_HUNG_AFTER_MS) || HUNG_AFTER_MS,
};

/** Detects a busy agent that shows no activity: no hook, no sign, no growing transcript, no new title. */
export class HangDetector {
  readonly #services: ConversationServices;
  #timer: HangTimer;
  /** Counts hooks, titles and signs that the program sent. */
  #activityCount = 0;

  constructor(services: ConversationServices) {
    this.#services = services;
    this.#timer = startHangTimer("", services.monotonicMs());
  }

  noteActivity(): void {
    this.#activityCount++;
  }

  /** How long the agent has been hung; null while it is not. */
  get hungMs(): number | null {
    return hungForMs(this.#timer, RULES);
  }

  /** Polls, and publishes one event for each hang. */
  async poll(run: Run, busy: boolean, signs: readonly Sign[], transcript: string | null): Promise<void> {
    const before = this.hungMs;
    const fingerprint = busy ? JSON.stringify([this.#activityCount, signs, transcript && fileVersion(transcript)]) : "";
    this.#timer = tickHangTimer(this.#timer, busy, fingerprint, this.#services.monotonicMs(), RULES);
    const { hungMs } = this;
    if (before === null && hungMs !== null)
      await publishRunEvent(this.#services, run, "worker.hung", { ms: Math.round(hungMs) });
  }
}

function fileVersion(file: string): number[] {
  const stat = statIfThere(file);
  return stat ? [stat.size, stat.mtimeMs] : [];
}
