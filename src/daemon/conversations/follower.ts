import { rmSync } from "node:fs";
import {
  POLLS_UNTIL_IDLE,
  POLL_ALIGN_MS,
  MISMATCH_CONFIRM_MS,
  PROOF_POLL_MS,
  IDLE_POLL_MS,
  RUN_POLL_MS,
  SIGN_SETTLE_MS,
} from "../../limits/index.ts";
import { awaitsConfirmation } from "../../core/proof.ts";
import { movedTo } from "../../core/rotation.ts";
import type { Sign } from "../../protocol/records/conversation.ts";
import type { ProcessInfo } from "../../runtime/process/index.ts";
import type { Run } from "../../store/runs.ts";
import { lastEntryOfRun, conversationOfRun, type Conversation } from "../../store/conversations.ts";
import type { Adapter } from "../../vendors/index.ts";
import { AgentProcessWatch, type SignSources } from "./agent-process.ts";
import { AttentionWatch } from "./attention.ts";
import { readHookEvents } from "./hook-events.ts";
import type { ConversationServices } from "./services.ts";
import { proveByTranscript } from "./proof.ts";
import { applySign, provedOf, recordPrompt, type SignOutcome } from "./bindings.ts";
import { HangDetector } from "./hang-detector.ts";
import { ForeignOpeners } from "./foreign-openers.ts";
import { TranscriptWatch } from "./transcript.ts";

interface FollowOptions {
  adopted: boolean;
  sources: SignSources;
  /** Called with what a sign of the run led to, once it is on disk. */
  onOutcome: (run: Run, outcome: SignOutcome) => Promise<void>;
}

/** Follows the conversation of one run: proves that the run is in the right one, then tracks its rotations. */
export class Follower {
  readonly #services: ConversationServices;
  #run: Run;
  readonly #adapter: Adapter;
  readonly #adopted: boolean;
  readonly #isWatched: () => boolean;
  readonly #onOutcome: FollowOptions["onOutcome"];
  readonly #transcript: TranscriptWatch;
  /** The conversations that the process showed at the last poll; null before the first sign. */
  #shownSessions: ReadonlySet<string> | null = null;
  readonly #agent: AgentProcessWatch;
  /** A sign of another conversation before any sign of the right one, which the agent may still be about to open. */
  #unconfirmed: { sign: Sign; sinceMs: number } | null = null;
  /** The poll interval, which grows until the first sign, up to the usual one. */
  #waitMs = PROOF_POLL_MS;
  #timer: NodeJS.Timeout | null = null;
  /** The last step; steps run one at a time, because two at once would report the same change twice, or out of order. */
  #lastStep: Promise<void> = Promise.resolve();
  #stopped = false;
  /** Consecutive polls at which the agent waited for somebody and its next activity would be noticed without a poll. */
  #calmPolls = 0;
  readonly #stopListening: (() => void) | null;

  readonly attention: AttentionWatch;
  readonly foreignOpeners: ForeignOpeners;
  readonly hang: HangDetector;
  /** The conversation of another worker that the agent has changed to. */
  foreignConversation: string | null = null;

  /** `adopted`: the run was found alive by a daemon that did not see it begin. */
  constructor(
    services: ConversationServices,
    run: Run,
    adapter: Adapter,
    { adopted, sources, onOutcome }: FollowOptions,
  ) {
    this.#onOutcome = onOutcome;
    this.#services = services;
    this.#isWatched = sources.isWatched;
    this.#run = run;
    this.#adapter = adapter;
    this.#adopted = adopted;
    this.#transcript = new TranscriptWatch(services);
    this.#agent = new AgentProcessWatch(services, adapter);
    this.foreignOpeners = new ForeignOpeners(services, adapter, sources.recentProcesses);
    this.hang = new HangDetector(services);
    this.attention = new AttentionWatch(services, run, adapter);
    const context = { runDir: services.runs.runDir(run.id), session: this.#conversation()?.vendorId ?? "" };
    this.#stopListening = adapter.liveness.listen?.(context, (sign) => this.#onListenedSign(sign)) ?? null;
    this.#pollIn(this.#waitMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#stopListening?.();
    if (this.#timer) clearTimeout(this.#timer);
  }

  /** Records that another process holds the name for the run. */
  setHolder(run: Run): void {
    this.#run = run;
    // Signs were searched for under another process until now; most agents have yet to start, and the watch will report it.
    this.#waitMs = RUN_POLL_MS / 2;
    this.#pollIn(this.#isWatched() ? this.#waitMs : PROOF_POLL_MS);
  }

  /** Updates the attention with what the terminal shows, in turn with the agent's own signs. */
  runExclusive(update: (attention: AttentionWatch) => Promise<void>): void {
    void this.#step(() => update(this.attention));
  }

  /** Polls soon, because something changed in the folder with the signs of the vendor's processes. */
  pollSoon(): void {
    this.#calmPolls = 0;
    this.#transcript.noteActivity();
    this.#pollIn(SIGN_SETTLE_MS);
  }

  /** Checks for foreign openers soon, because a process has appeared that is not the run's own. */
  recheckForeignOpeners(): void {
    this.foreignOpeners.checkNow();
    if (this.#calmPolls >= POLLS_UNTIL_IDLE) this.#pollIn(RUN_POLL_MS);
    this.#calmPolls = 0;
  }

  get agent(): ProcessInfo | null {
    return this.#agent.found;
  }

  get wrapperPid(): number {
    return this.#run.pid;
  }

  /** Reads the file that a hook has written to the run's folder. */
  onHookFile(): void {
    this.#calmPolls = 0;
    this.hang.noteActivity();
    void this.#step(() => this.#readHookFiles());
  }

  #onListenedSign(sign: Sign): void {
    this.hang.noteActivity();
    void this.#step(() => this.#apply(sign));
  }

  #pollIn(ms: number): void {
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#stopped) return;
    const next = (): void => this.#pollIn(this.#calmPolls >= POLLS_UNTIL_IDLE ? IDLE_POLL_MS : this.#waitMs);
    this.#timer = setTimeout(
      () => void this.#step(() => this.#poll()).finally(next),
      alignedDelay(this.#services.monotonicMs(), ms),
    );
    this.#timer.unref();
  }

  #step(step: () => Promise<void>): Promise<void> {
    this.#lastStep = this.#lastStep.then(step).catch((error: unknown) => {
      this.#services.log(`could not follow the conversation of ${this.#run.id}: ${String(error)}`);
    });
    return this.#lastStep;
  }

  async #poll(): Promise<void> {
    const signs = this.#signs();
    this.#waitMs = signs.length > 0 ? RUN_POLL_MS : Math.min(this.#waitMs * this.#backoff(), RUN_POLL_MS);
    await this.#readHookFiles();
    const current = this.#conversation()?.vendorId;
    const currentSign = signs.find(({ session }) => session === current);
    const moved = movedTo(current, this.#shownSessions, signs);
    if (currentSign) {
      this.#unconfirmed = this.foreignConversation = null;
      await this.#apply(currentSign);
    }
    if (moved && this.#adopted) await proveByTranscript(this.#services, this.#run);
    if (moved && !this.#awaitsConfirmation(moved, currentSign !== undefined)) {
      if (moved.session !== this.foreignConversation) await this.#apply(moved);
      this.#shownSessions = new Set(signs.map(({ session }) => session));
    } else if (currentSign) {
      this.#shownSessions = new Set(signs.map(({ session }) => session));
    }
    await this.#pollTranscript(null);
    const conversation = this.#conversation();
    await this.foreignOpeners.poll(this.#run, conversation, this.#agent.found);
    const transcript = conversation && this.#transcript.fileOf(conversation);
    await this.hang.poll(this.#run, this.attention.activity === "busy", signs, transcript);
    const settled =
      currentSign !== undefined &&
      this.#unconfirmed === null &&
      this.foreignConversation === null &&
      !this.foreignOpeners.hasSuspects;
    const calm = settled && this.attention.isWaiting && this.#isWatched();
    this.#calmPolls = calm ? this.#calmPolls + 1 : 0;
  }

  /** Where a watch reports the first sign, polling backs off faster: fifty agents that start together need the processor. */
  #backoff(): number {
    return this.#isWatched() ? 3 : 1.1;
  }

  /** Returns the sign that was unconfirmed when the run ended: the run never reached the right conversation. */
  unconfirmedSign(): Sign | null {
    return this.#adopted ? null : (this.#unconfirmed?.sign ?? null);
  }

  /** Returns the signs of where the process is, or was when it was killed, as far as it shows or left any. */
  finalSigns(): Sign[] {
    const conversation = this.#conversation();
    if (!conversation) return [];
    const live = this.#signs();
    const leftovers = this.#agent.leftovers(conversation);
    const signs = live.length > 0 ? live : leftovers;
    const currentSign = signs.find((sign) => sign.session === conversation.vendorId);
    const moved = movedTo(conversation.vendorId, this.#shownSessions, signs);
    const known = lastEntryOfRun(this.#services.db, this.#run.id)?.proved === "true" || currentSign !== undefined;
    return [...(currentSign ? [currentSign] : []), ...(moved && known ? [moved] : [])];
  }

  /** Remembers since when a sign of another conversation waits for its confirmation, and asks whether it still does. */
  #awaitsConfirmation(sign: Sign, seenHere: boolean): boolean {
    if (seenHere) return false;
    const entry = lastEntryOfRun(this.#services.db, this.#run.id);
    const proved = entry ? provedOf(entry) : "pending";
    const now = this.#services.monotonicMs();
    if (proved === "pending" && this.#unconfirmed?.sign.session !== sign.session) {
      this.#unconfirmed = { sign, sinceMs: now };
    }
    const rules = { adopted: this.#adopted, confirmMs: MISMATCH_CONFIRM_MS };
    return awaitsConfirmation(proved, this.#unconfirmed?.sinceMs ?? now, now, rules);
  }

  #conversation(): Conversation | null {
    return conversationOfRun(this.#services.db, this.#run.id);
  }

  #signs(): Sign[] {
    const conversation = this.#conversation();
    // Until the pane exists the daemon itself holds the name, and its own child processes are not the agent.
    return conversation && this.#run.pid !== process.pid ? this.#agent.signs(this.#run, conversation) : [];
  }

  async #readHookFiles(): Promise<void> {
    for (const { sign, file } of readHookEvents(this.#services.runs.runDir(this.#run.id), this.#adapter)) {
      await this.#apply(sign);
      rmSync(file, { force: true });
    }
  }

  async #apply(sign: Sign): Promise<void> {
    if (sign.stays && this.#conversation()?.vendorId !== sign.session) return;
    if (sign.activity && sign.activity !== this.attention.activity) this.#transcript.noteActivity();
    await this.attention.onSign(sign);
    const entry = lastEntryOfRun(this.#services.db, this.#run.id);
    // Nine of ten signs add nothing, and cost no commit.
    if (entry?.proved !== "true" || this.#conversation()?.vendorId !== sign.session) {
      const outcome = await this.#services.writer.write(() => applySign(this.#services, this.#run.id, sign));
      if (outcome === "foreign") this.foreignConversation = sign.session;
      await this.#onOutcome(this.#run, outcome);
    }
    await this.#recordPrompt(sign);
    const own = this.#conversation()?.vendorId === sign.session;
    if (own && sign.transcript !== undefined) await this.#pollTranscript(sign.transcript);
  }

  async #recordPrompt(sign: Sign): Promise<void> {
    if (sign.activity !== "busy" || this.#conversation()?.prompted !== false) return;
    await this.#services.writer.write(() => recordPrompt(this.#services, this.#run.id, sign));
  }

  async #pollTranscript(reportedFile: string | null): Promise<void> {
    const conversation = this.#conversation();
    if (!conversation) return;
    if (reportedFile !== null) this.#transcript.setReportedFile(conversation, reportedFile);
    await this.#transcript.poll(conversation, this.attention.activity === "busy");
  }
}

/** Aligns slow polls to common times: fifty polls in one wake-up cost less than fifty wake-ups. */
function alignedDelay(nowMs: number, ms: number): number {
  if (ms < RUN_POLL_MS) return ms;
  return Math.ceil((nowMs + ms) / POLL_ALIGN_MS) * POLL_ALIGN_MS - nowMs;
}
