import {
  isWorthReporting,
  afterScreen,
  afterTitle,
  afterSign,
  isStanding,
  UNKNOWN,
  type Attention,
  type ScreenBlock,
} from "../../../core/attention.ts";
import { SCREENS_AFTER_TURN, TITLE_POLLED_AFTER_SIGN_MS, TITLE_SETTLE_MS } from "../../../limits/index.ts";
import type { Activity, BlockedReason, Outward, Sign } from "../../../protocol/records/conversation.ts";
import type { Run } from "../../../store/runs.ts";
import { workerById } from "../../../store/workers.ts";
import type { Adapter } from "../../../vendors/index.ts";
import { errorOn } from "../../../vendors/shared/blocked-exit.ts";
import { dialogOn, unrecordedOn } from "../../../vendors/shared/screen.ts";
import type { BaseServices } from "../../base-services.ts";
import { recordRunEvent } from "../../events.ts";
import type { WorkerActivities, WorkerActivity } from "../../worker-activity.ts";
import { saveAttention, savedAttention } from "./attention-file.ts";
import { LastWords } from "./last-words.ts";
import { unlessDiskFull } from "../signs/unwritten-signs.ts";
import { isHeadless } from "../proof/proof.ts";
import { shownWords } from "./vendor-words.ts";

type AttentionServices = Pick<BaseServices, "db" | "environments" | "writer" | "now" | "monotonicMs" | "log"> & {
  readonly activities: Pick<WorkerActivities, "changed">;
};

/** Tracks what one run does and waits for. Only a change costs a commit: most signs say what is known. */
export class AttentionWatch {
  readonly #services: AttentionServices;
  readonly #run: Run;
  readonly #adapter: Adapter;
  /** The run's folder, in which what is known is kept for the next daemon; null keeps nothing. */
  readonly #runDir: string | null;
  #attention: Attention;
  readonly lastWords = new LastWords();
  /** Polls at which the screen is still to be read after the end of a turn. */
  #screensDue = 0;

  /** `adopted`: an earlier daemon has followed the run. */
  constructor(services: AttentionServices, run: Run, adapter: Adapter, runDir: string | null = null, adopted = false) {
    this.#services = services;
    this.#run = run;
    this.#adapter = adapter;
    this.#runDir = runDir;
    const saved = adopted && runDir !== null ? savedAttention(runDir, services.monotonicMs()) : null;
    this.#attention = saved ?? UNKNOWN;
    if (saved?.activity != null) services.activities.changed(run.id, this.#shownActivity(saved), saved.reason);
  }

  /** The agent does nothing until somebody acts. */
  get isWaiting(): boolean {
    return this.activity === "idle" || this.activity === "blocked";
  }

  get readsTitles(): boolean {
    return this.#adapter.screen?.title !== undefined;
  }

  /** Tells whether the title may be another one than was reported last: an agent at work changes it, and so does each of its signs. */
  get needsTitle(): boolean {
    const { activity, reportedAtMs } = this.#attention;
    const sinceSignMs = reportedAtMs === null ? Infinity : this.#services.monotonicMs() - reportedAtMs;
    return this.readsTitles && (activity === "busy" || sinceSignMs < TITLE_POLLED_AFTER_SIGN_MS);
  }

  get activity(): Activity | null {
    return this.#attention.activity;
  }

  get reason(): BlockedReason | null {
    return this.#attention.reason;
  }

  /** The program's own words for what blocks it, and what helps; null where it has none. */
  get words(): string | null {
    return this.#attention.words;
  }

  /** The program's own words that it no longer records the conversation; null as long as nobody knows that. */
  get unrecorded(): string | null {
    return this.#attention.unrecorded;
  }

  /** Tells whether the screen may show a dialog, or the reason of a block that is not known. `always` includes every agent. */
  needsScreen(always: boolean): boolean {
    const { source, activity, reason, hasWorked, reportedAtMs } = this.#attention;
    if (this.#adapter.screen?.dialogs === undefined) return false;
    if (always || this.#screensDue > 0 || source === "screen" || (activity === "blocked" && reason === null))
      return true;
    return !hasWorked && reportedAtMs === null;
  }

  /** Applies the agent's own sign. One that has opened nothing yet, maybe, is not at rest: a dialog may be in front. */
  async onSign({ activity, blocked, words, means }: Sign): Promise<void> {
    if (means === "echo" && activity === "idle" && !this.#attention.hasWorked) return;
    if (activity) await this.onActivity({ activity, blocked, words });
  }

  /** Applies what the agent tells of itself where that proves nothing about its conversation. */
  async onActivity(outward: Outward): Promise<void> {
    await this.#update(this.after([outward]));
  }

  /** Applies a turn's beginning or end as the transcript tells it, later than the agent's own signs do. */
  async onWritten(outward: Outward): Promise<void> {
    // No turn begins while a question of the last one is open, so this is the beginning of that one.
    const isAsking = this.activity === "blocked" && (this.reason === "permission" || this.reason === "question");
    if (!isAsking || outward.activity !== "busy") await this.onActivity(outward);
  }

  /** Returns what would be known after these signs, and changes nothing: it is asked inside the change that ends the run. */
  after(signs: readonly Pick<Sign, "activity" | "blocked" | "words">[]): Attention {
    return signs.reduce((before, { activity, blocked, words }) => {
      const shown = words === undefined ? undefined : this.#shown(words);
      return activity ? afterSign(before, { activity, blocked, words: shown }, this.#services.monotonicMs()) : before;
    }, this.#attention);
  }

  /**
   * Applies the agent's move to another conversation, in which no turn has failed or was lost yet. `leavesTurn`: how a turn ends is read in the
   * conversation it is of, so that nobody would learn the end of one in the conversation that was left.
   */
  async onMove(leavesTurn: boolean): Promise<void> {
    this.lastWords.forget();
    const before: Attention = { ...this.#attention, unrecorded: null };
    if (isStanding(before) || (leavesTurn && before.activity === "busy"))
      await this.#update({ ...before, activity: "idle", reason: null, words: null });
    else await this.#update(before);
  }

  async onTitle(title: string): Promise<void> {
    const outward = this.#adapter.screen?.title?.(title);
    if (!outward) return;
    const times = { nowMs: this.#services.monotonicMs(), settleMs: TITLE_SETTLE_MS };
    await this.#update(afterTitle(this.#attention, outward, times));
  }

  async onScreen(text: string): Promise<void> {
    this.#screensDue = Math.max(0, this.#screensDue - 1);
    const unrecorded = this.#attention.unrecorded ?? this.#unrecordedOn(text);
    await this.#update({ ...afterScreen(this.#attention, this.#blockOn(text)), unrecorded });
  }

  #unrecordedOn(text: string): string | null {
    const words = unrecordedOn(text, this.#adapter.screen?.stopsRecording);
    return words === null ? null : this.#shown(words);
  }

  #blockOn(text: string): ScreenBlock | null {
    const { dialogs, blockedExit, failsOnScreenOnly = false } = this.#adapter.screen ?? {};
    const dialog = dialogOn(text, dialogs);
    if (dialog) return { dialog: dialog.reason };
    const error = failsOnScreenOnly ? errorOn(text, blockedExit) : null;
    return error && { error: error.kind, words: this.#shown(error.line) };
  }

  #shown(words: string): string {
    const worker = workerById(this.#services.db, this.#run.workerId);
    return shownWords(words, worker?.vendor ?? this.#adapter.vendor, this.#services.environments.of(worker));
  }

  async #update(next: Attention): Promise<void> {
    const before = this.#attention;
    this.#attention = next;
    if (before.activity === "busy" && next.activity === "idle") this.#screensDue = SCREENS_AFTER_TURN;
    const changed = before.activity !== next.activity || before.reason !== next.reason;
    if (changed || before.unrecorded !== next.unrecorded) this.#save(next);
    const shown = changed ? this.#tell(before, next) : null;
    const needsReport = isWorthReporting(before, next);
    if (shown === null && !needsReport) return;
    const { activity, reason, words, unrecorded } = next;
    const data = { activity, reason, ...(words !== null && { words }), ...(unrecorded !== null && { unrecorded }) };
    const record = (): void => {
      if (shown) recordRunEvent(this.#services, "worker.activity", this.#run, { ...shown });
      if (needsReport) recordRunEvent(this.#services, "worker.attention", this.#run, data);
    };
    // A full disk keeps the event, and must not keep what comes with the sign.
    await unlessDiskFull(() => this.#services.writer.write(record));
  }

  /** Tells those inside the daemon who wait for it what the worker does now, and returns that; null if it shows no other. */
  #tell(before: Attention, next: Attention): Pick<WorkerActivity, "activity" | "reason"> | null {
    const { reason } = next;
    const activity = this.#shownActivity(next);
    if (activity === this.#shownActivity(before) && reason === before.reason) return null;
    this.#services.activities.changed(this.#run.id, activity, reason);
    return { activity, reason };
  }

  #shownActivity({ activity }: Attention): Activity | "running" {
    const worker = workerById(this.#services.db, this.#run.workerId);
    return shownActivity(activity, worker !== null && isHeadless(worker, this.#run));
  }

  #save(attention: Attention): void {
    if (this.#runDir === null) return;
    try {
      saveAttention(this.#runDir, attention);
    } catch (error) {
      // The next daemon will not know what this one knew, and says so.
      this.#services.log(`the activity of ${this.#run.id} could not be kept: ${String(error)}`);
    }
  }
}

/** Returns the state of a worker whose agent does this. */
export function shownActivity(activity: Activity | null, headless: boolean): Activity | "running" {
  // Nobody speaks to a headless agent: between its start and its prompt it does not wait for anybody.
  return activity === "idle" && headless ? "busy" : (activity ?? "running");
}
