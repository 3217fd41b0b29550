import { isWorthReporting, afterScreen, afterTitle, afterSign, UNKNOWN, type Attention } from "../../core/attention.ts";
import { TITLE_SETTLE_MS } from "../../limits/index.ts";
import type { Activity, BlockedReason, Sign } from "../../protocol/records/conversation.ts";
import type { Run } from "../../store/runs.ts";
import type { Adapter } from "../../vendors/index.ts";
import { dialogOn } from "../../vendors/shared/screen.ts";
import type { BaseServices } from "../base-services.ts";
import { recordRunEvent } from "../events.ts";

type AttentionServices = Pick<BaseServices, "db" | "writer" | "now" | "monotonicMs">;

/** Tracks what one run does and waits for. Only a change of whether somebody is needed costs a commit. */
export class AttentionWatch {
  readonly #services: AttentionServices;
  readonly #run: Run;
  readonly #adapter: Adapter;
  #attention: Attention = UNKNOWN;

  constructor(services: AttentionServices, run: Run, adapter: Adapter) {
    this.#services = services;
    this.#run = run;
    this.#adapter = adapter;
  }

  /** The agent does nothing until somebody acts. */
  get isWaiting(): boolean {
    return this.activity === "idle" || this.activity === "blocked";
  }

  get readsTitles(): boolean {
    return this.#adapter.screen?.title !== undefined;
  }

  get activity(): Activity | null {
    return this.#attention.activity;
  }

  get reason(): BlockedReason | null {
    return this.#attention.reason;
  }

  /** Tells whether the screen may show a dialog, or the reason of a block that is not known. `always` includes every agent. */
  needsScreen(always: boolean): boolean {
    const { source, activity, reason, hasWorked, reportedAtMs } = this.#attention;
    if (this.#adapter.screen?.dialogs === undefined) return false;
    if (always || source === "screen" || (activity === "blocked" && reason === null)) return true;
    return !hasWorked && reportedAtMs === null;
  }

  async onSign({ activity, blocked }: Sign): Promise<void> {
    if (!activity) return;
    const outward = blocked === undefined ? { activity } : { activity, blocked };
    await this.#update(afterSign(this.#attention, outward, this.#services.monotonicMs()));
  }

  async onTitle(title: string): Promise<void> {
    const outward = this.#adapter.screen?.title?.(title);
    if (!outward) return;
    const times = { nowMs: this.#services.monotonicMs(), settleMs: TITLE_SETTLE_MS };
    await this.#update(afterTitle(this.#attention, outward, times));
  }

  async onScreen(text: string): Promise<void> {
    await this.#update(afterScreen(this.#attention, dialogOn(text, this.#adapter.screen?.dialogs)?.reason ?? null));
  }

  async #update(next: Attention): Promise<void> {
    const before = this.#attention;
    this.#attention = next;
    if (!isWorthReporting(before, next)) return;
    const { activity, reason } = next;
    await this.#services.writer.write(() =>
      recordRunEvent(this.#services, "worker.attention", this.#run, { activity, reason }),
    );
  }
}
