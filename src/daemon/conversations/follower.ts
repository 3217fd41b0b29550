import { rmSync } from "node:fs";
import {
  LOOKS_TOGETHER_MS,
  MISMATCH_CONFIRM_MS,
  PROOF_LOOK_MS,
  QUIET_LOOK_MS,
  RUN_POLL_MS,
  SIGN_SETTLE_MS,
} from "../../limits/index.ts";
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
import { applySign, recordPrompt, type SignOutcome } from "./bindings.ts";
import { HangDetector } from "./hang-detector.ts";
import { ForeignOpeners } from "./foreign-openers.ts";
import { TranscriptWatch } from "./transcript.ts";

/** After something happened, what belongs to it may come a little later: a transcript, a stranger. */
const CALM_POLLS = 4;

interface FollowOptions {
  adopted: boolean;
  sources: SignSources;
  /** What a sign of the run led to, once it is on disk. */
  onOutcome: (run: Run, outcome: SignOutcome) => Promise<void>;
}

/** Follows one run: first whether it is in the right conversation, then where it goes from there. */
export class Follower {
  readonly #services: ConversationServices;
  #run: Run;
  readonly #adapter: Adapter;
  readonly #adopted: boolean;
  readonly #isWatched: () => boolean;
  readonly #onOutcome: FollowOptions["onOutcome"];
  readonly #transcript: TranscriptWatch;
  /** What its process showed at the last look: only what was not there then is news. Null before the first sign. */
  #shownSessions: ReadonlySet<string> | null = null;
  readonly #agent: AgentProcessWatch;
  /** A sign of another conversation before any of the right one: on its way there, or lost? */
  #unconfirmed: { sign: Sign; sinceMs: number } | null = null;
  /** Grows from look to look until the first sign, up to the usual poll. */
  #waitMs = PROOF_LOOK_MS;
  #timer: NodeJS.Timeout | null = null;
  /** One step at a time: two at once would tell the same news twice, and in another order. */
  #lastStep: Promise<void> = Promise.resolve();
  #stopped = false;
  /** Looks in a row at which it waited for somebody, and whatever it does next is told. */
  #calmPolls = 0;
  readonly #stopListening: (() => void) | null;

  readonly attention: AttentionWatch;
  readonly foreignOpeners: ForeignOpeners;
  readonly hang: HangDetector;
  /** Another worker's conversation that it has gone to. */
  foreignConversation: string | null = null;

  /** `late`: found running by a daemon that did not see it begin. */
  constructor(
    services: ConversationServices,
    run: Run,
    adapter: Adapter,
    { adopted: late, sources: signs, onOutcome }: FollowOptions,
  ) {
    this.#onOutcome = onOutcome;
    this.#services = services;
    this.#isWatched = signs.isWatched;
    this.#run = run;
    this.#adapter = adapter;
    this.#adopted = late;
    this.#transcript = new TranscriptWatch(services);
    this.#agent = new AgentProcessWatch(services, adapter);
    this.foreignOpeners = new ForeignOpeners(services, adapter, signs.recentProcesses);
    this.hang = new HangDetector(services);
    this.attention = new AttentionWatch(services, run, adapter);
    const asked = { runDir: services.runs.runDir(run.id), session: this.#conversation()?.vendorId ?? "" };
    this.#stopListening = adapter.liveness.listen?.(asked, (sign) => this.#onListenedSign(sign)) ?? null;
    this.#pollIn(this.#waitMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#stopListening?.();
    if (this.#timer) clearTimeout(this.#timer);
  }

  /** Another process holds the name for the run from now on. */
  setHolder(run: Run): void {
    this.#run = run;
    // What it may have shown by now was looked for elsewhere; most have yet to start, and will be told of.
    this.#waitMs = RUN_POLL_MS / 2;
    this.#pollIn(this.#isWatched() ? this.#waitMs : PROOF_LOOK_MS);
  }

  /** What its terminal shows, in turn with what it tells by itself. */
  runExclusive(tell: (attention: AttentionWatch) => Promise<void>): void {
    void this.#step(() => tell(this.attention));
  }

  /** Something happened where this vendor's processes leave their signs. */
  pollSoon(): void {
    this.#calmPolls = 0;
    this.#transcript.noteActivity();
    this.#pollIn(SIGN_SETTLE_MS);
  }

  /** A process has come that is not its own: who knows what it has opened. */
  recheckForeignOpeners(): void {
    this.foreignOpeners.checkNow();
    if (this.#calmPolls >= CALM_POLLS) this.#pollIn(RUN_POLL_MS);
    this.#calmPolls = 0;
  }

  get agent(): ProcessInfo | null {
    return this.#agent.found;
  }

  get wrapperPid(): number {
    return this.#run.pid;
  }

  /** A hook has left a file in the run's folder. */
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
    const next = (): void => this.#pollIn(this.#calmPolls >= CALM_POLLS ? QUIET_LOOK_MS : this.#waitMs);
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
    const here = signs.find(({ session }) => session === current);
    const gone = movedTo(current, this.#shownSessions, signs);
    if (here) {
      this.#unconfirmed = this.foreignConversation = null;
      await this.#apply(here);
    }
    if (gone && this.#adopted) await proveByTranscript(this.#services, this.#run);
    if (gone && !this.#awaitsConfirmation(gone, here !== undefined)) {
      if (gone.session !== this.foreignConversation) await this.#apply(gone);
      this.#shownSessions = new Set(signs.map(({ session }) => session));
    } else if (here) {
      this.#shownSessions = new Set(signs.map(({ session }) => session));
    }
    await this.#pollTranscript(null);
    const conversation = this.#conversation();
    await this.foreignOpeners.poll(this.#run, conversation, this.#agent.found);
    const transcript = conversation && this.#transcript.fileOf(conversation);
    await this.hang.poll(this.#run, this.attention.activity === "busy", signs, transcript);
    const sure =
      here !== undefined &&
      this.#unconfirmed === null &&
      this.foreignConversation === null &&
      !this.foreignOpeners.hasSuspects;
    const calm = sure && this.attention.isWaiting && this.#isWatched();
    this.#calmPolls = calm ? this.#calmPolls + 1 : 0;
  }

  /** Where the first sign is told, it need not be looked for all the time: fifty that start together want the processor. */
  #backoff(): number {
    return this.#isWatched() ? 3 : 1.1;
  }

  /** What was still in doubt when the run ended is no longer: it never got where it should have been. */
  unconfirmedSign(): Sign | null {
    return this.#adopted ? null : (this.#unconfirmed?.sign ?? null);
  }

  /** Where the process is, or was when it was killed, as far as it shows or has left something behind. */
  finalSigns(): Sign[] {
    const conversation = this.#conversation();
    if (!conversation) return [];
    const live = this.#signs();
    const leftovers = this.#agent.leftovers(conversation);
    const signs = live.length > 0 ? live : leftovers;
    const here = signs.find((sign) => sign.session === conversation.vendorId);
    const gone = movedTo(conversation.vendorId, this.#shownSessions, signs);
    const known = lastEntryOfRun(this.#services.db, this.#run.id)?.proved === "true" || here !== undefined;
    return [...(here ? [here] : []), ...(gone && known ? [gone] : [])];
  }

  /**
   * A program may register before it has opened what it was told to: only one that stays elsewhere is in the wrong. Of one
   * that nobody saw begin, it cannot be told at all: it may have been in the right one before.
   */
  #awaitsConfirmation(sign: Sign, seenHere: boolean): boolean {
    const proved = lastEntryOfRun(this.#services.db, this.#run.id)?.proved;
    if (seenHere || proved === "true") return false;
    if (proved === "false") return true;
    const now = this.#services.monotonicMs();
    if (this.#unconfirmed?.sign.session !== sign.session) this.#unconfirmed = { sign, sinceMs: now };
    return this.#adopted || now - this.#unconfirmed.sinceMs < MISMATCH_CONFIRM_MS;
  }

  #conversation(): Conversation | null {
    return conversationOfRun(this.#services.db, this.#run.id);
  }

  #signs(): Sign[] {
    const conversation = this.#conversation();
    // Until its pane is there we stand for it ourselves, and what we have started meanwhile is not its agent.
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
    // Nine signs of ten say what is known: they cost no commit.
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

  async #pollTranscript(told: string | null): Promise<void> {
    const conversation = this.#conversation();
    if (!conversation) return;
    if (told !== null) this.#transcript.setReportedFile(conversation, told);
    await this.#transcript.poll(conversation, this.attention.activity === "busy");
  }
}

/** Delays what can wait until other polls are due as well: fifty polls in one wake-up cost less than one each. */
function alignedDelay(nowMs: number, ms: number): number {
  if (ms < RUN_POLL_MS) return ms;
  return Math.ceil((nowMs + ms) / LOOKS_TOGETHER_MS) * LOOKS_TOGETHER_MS - nowMs;
}
