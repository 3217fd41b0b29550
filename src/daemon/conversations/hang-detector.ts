import { statSync } from "node:fs";
import { heardAt, hungFor, listen, type Silence, type SilenceRules } from "../../core/hang.ts";
import { HUNG_AFTER_MS, RUN_POLL_MS } from "../../limits/index.ts";
import type { Sign } from "../../protocol/records/conversation.ts";
import type { Run } from "../../store/runs.ts";
import type { Watched } from "../services.ts";
import { tellOfRun } from "../runs/identity.ts";

const RULES: SilenceRules = {
  everyMs: RUN_POLL_MS,
  // Tests do not wait for minutes.
  hungAfterMs: Number(process.env.PERDURE_HUNG_AFTER_MS) || HUNG_AFTER_MS,
};

/** Whether one run's agent is at work and shows nothing of it: no hook, no sign, no growing transcript, no new title. */
export class SilenceWatch {
  readonly #house: Watched;
  #silence: Silence;
  /** What came by itself: hooks, titles, what the program told. */
  #stirs = 0;

  constructor(house: Watched) {
    this.#house = house;
    this.#silence = heardAt("", house.monotonicMs());
  }

  stir(): void {
    this.#stirs++;
  }

  /** Null as long as nobody need worry. */
  get hungMs(): number | null {
    return hungFor(this.#silence, RULES);
  }

  /** Tells once of each spell. */
  async look(run: Run, busy: boolean, signs: readonly Sign[], transcript: string | null): Promise<void> {
    const before = this.hungMs;
    const seen = busy ? JSON.stringify([this.#stirs, signs, transcript && changeOf(transcript)]) : "";
    this.#silence = listen(this.#silence, busy, seen, this.#house.monotonicMs(), RULES);
    const { hungMs } = this;
    if (before === null && hungMs !== null)
      await tellOfRun(this.#house, run, "worker.hung", { ms: Math.round(hungMs) });
  }
}

function changeOf(file: string): number[] {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat ? [stat.size, stat.mtimeMs] : [];
}
