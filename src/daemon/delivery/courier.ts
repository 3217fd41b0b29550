import { nudgeLine } from "../../core/envelope.ts";
import {
  CHANNEL_REST_MS,
  CHANNEL_REST_MS_MAX,
  FAILED_REVIEW_MS,
  HELD_REVIEW_MS,
  PIECE_MESSAGES_MAX,
  PIECE_POLL_MS,
  WAKE_SETTLE_MS,
  WAKE_WINDOW_MS,
} from "../../limits/index.ts";
import type { MailOutlook } from "../../protocol/records/mail.ts";
import { statIfThere } from "../../state/files.ts";
import { conversationOfRun, lastEntryOfRun, type Conversation } from "../../store/conversations.ts";
import { queuedMessages, type Message } from "../../store/messages.ts";
import { runById, type Run } from "../../store/runs.ts";
import { hopsOfRun, insertWake, setHopsOfRun } from "../../store/wakes.ts";
import { workerById, type Worker } from "../../store/workers.ts";
import type { DeliveryFacet, WakeChannel, WakePlace } from "../../vendors/delivery.ts";
import { isHeadless } from "../conversations/proof/proof.ts";
import { recordRunEvent } from "../events.ts";
import { HELD_MAIL_KEY } from "../mail/mailbox-change.ts";
import { boundReached, wakeChannelOf, wakePlaceOf } from "./channels.ts";
import { HandedOver, type LostPiece } from "./handed-over.ts";
import { writeForms, writeLetters } from "./letters.ts";
import { layOut, newMark, recordWake, takeBack, toolPieceOf, WOKEN, type Piece, type ToolPiece } from "./pieces.ts";
import type { DeliveryServices } from "./services.ts";
import { UnfinishedWake } from "./unfinished-wake.ts";

/**
 * Puts the mail of one run before its model. What waits is left for the next hook; an idle agent is woken. A message counts as
 * injected once the vendor shows it in the conversation; one that was handed over and never shown is offered again.
 */
export class Courier {
  readonly #services: DeliveryServices;
  readonly #run: Run;
  readonly #facet: DeliveryFacet;
  readonly #runDir: string;
  readonly #headless: boolean;
  readonly #handed: HandedOver;
  readonly #unfinished: UnfinishedWake;
  /** The mail that waits for a hook, by its mark, its ids and the conversation it was left for. */
  #waiting: { mark: string; ids: string[]; key: string } | null = null;
  /** The monotonic time since which the agent is idle; null while it is not. */
  #idleSinceMs: number | null = null;
  /** The agent is at work, and asks nobody anything. */
  #isBusy = false;
  /** A turn that is about to begin is one that mail begins, not a person. */
  #expectsTurn = false;
  #wakeRestsUntilMs = 0;
  #wakeFailures = 0;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;
  /** No process of the run is left. */
  #isGone = false;
  #lastReview: Promise<void> = Promise.resolve();

  /** Why mail waits although the agent could be handed it; null if none does. */
  heldReason: string | null = null;

  constructor(services: DeliveryServices, run: Run, worker: Worker, facet: DeliveryFacet) {
    this.#services = services;
    this.#run = run;
    this.#facet = facet;
    this.#handed = new HandedOver(services, run, facet);
    this.#unfinished = new UnfinishedWake(this.#handed, services.monotonicMs);
    this.#runDir = services.runs.runDir(run.id);
    this.#headless = isHeadless(worker, run);
  }

  /** Leaves what waits for the first hook, before the program starts: a headless program asks its model at once. */
  begin(): void {
    try {
      // What an earlier daemon has left is left anew: meanwhile it may have been cancelled.
      takeBack(this.#runDir);
      const worker = this.#reader();
      const taken = new Set(this.#handed.unrecorded().flatMap(({ ids }) => ids));
      const queued = worker === null ? [] : this.#queued(worker).filter(({ id }) => !taken.has(id));
      if (worker !== null) this.#leaveForHook(worker, queued);
    } catch (error) {
      // The run goes on without; the review tries again.
      this.#services.log(`the mail of ${this.#run.id} could not be left for its first hook: ${String(error)}`);
    }
    this.reviewSoon(0);
  }

  /** Applies what the agent does now. */
  onActivity(activity: "idle" | "busy" | "blocked" | "running" | "stopped"): void {
    const wasIdle = this.#idleSinceMs !== null;
    this.#isBusy = activity === "busy";
    this.#idleSinceMs = activity === "idle" ? (this.#idleSinceMs ?? this.#services.monotonicMs()) : null;
    if (activity === "busy" && wasIdle) this.#noteTurn();
    this.reviewSoon(0);
  }

  /** Looks soon at what there is to deliver, and at what was delivered. */
  reviewSoon(ms: number): void {
    if (this.#stopped) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#lastReview = this.#lastReview
        .then(() => this.#review())
        .catch((error: unknown) => {
          this.#services.log(`the mail of ${this.#run.id} could not be delivered: ${String(error)}`);
          this.reviewSoon(FAILED_REVIEW_MS);
        });
    }, ms).unref();
  }

  /** Makes a piece of messages that a tool is about to return to the model. */
  toolPiece(ids: readonly string[]): ToolPiece {
    const session = this.#conversation()?.vendorId ?? "";
    return toolPieceOf(this.#runDir, session, this.#pieceOf(newMark(), [...ids]), () => this.reviewSoon(0));
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  /** Takes back, inside a change, what waits for a hook, and records what hooks have taken: somebody else is about to decide. */
  recall(): void {
    this.#takeBack();
    this.#recordTaken();
    // What that decision leaves in the mailbox is left for a hook again.
    this.reviewSoon(0);
  }

  /** Takes back, when no process of the run is left, what its program was to be woken with: no later run may begin with it. */
  async withdraw(): Promise<void> {
    this.#isGone = true;
    // A wake that is under way would be left behind.
    await this.#lastReview;
    await this.#handed.withdrawAll();
  }

  /** Settles, inside the change that ends the run, what the conversation shows of what hooks have taken. */
  settleAtEnd(): void {
    this.recall();
    this.#handed.settleAtEnd();
  }

  async #review(): Promise<void> {
    if (this.#stopped) return;
    if (this.#handed.unrecorded().length > 0) await this.#services.writer.write(() => this.#recordTaken());
    await this.#settle();
    await this.#reviewHeld();
    // Read after the last wait: what follows must not hand over what somebody has taken or cancelled meanwhile.
    const worker = this.#reader();
    if (worker === null) return void this.#takeBack();
    const queued = this.#queued(worker);
    const wakeInMs = this.#wouldTell(queued) ? this.#wakeInMs(worker) : null;
    if (wakeInMs !== 0 || this.#facet.wake?.nudges) this.#leaveForHook(worker, queued);
    if (wakeInMs === 0) await this.#wake(worker, queued);
    this.#reviewLater(wakeInMs);
  }

  /** Looks again when that may change anything by itself. */
  #reviewLater(wakeInMs: number | null): void {
    const inMs = Math.min(
      wakeInMs ?? Infinity,
      this.#handed.hasUnseen ? PIECE_POLL_MS : Infinity,
      // The end of a turn is told; what the turn got counts as read a moment later.
      this.#handed.hasInjected && this.#idleSinceMs !== null ? WAKE_SETTLE_MS : Infinity,
      this.heldReason === null ? Infinity : HELD_REVIEW_MS,
    );
    if (Number.isFinite(inMs) && this.#timer === null) this.reviewSoon(Math.max(inMs, PIECE_POLL_MS));
  }

  /** Finds out anew why mail waits although the agent could be handed it, and tells people of a reason that is new. */
  async #reviewHeld(): Promise<void> {
    const worker = this.#reader();
    const queued = worker === null || this.#headless ? [] : this.#queued(worker);
    const bound = queued.length === 0 ? null : boundReached(this.#services, this.#run.workerId, queued);
    const reason = this.#unfinished.standsInInput ? STANDS_IN_INPUT : bound;
    if (reason === this.heldReason) return;
    this.heldReason = reason;
    this.#services.mail.notify(HELD_MAIL_KEY);
    if (reason === null) return;
    await this.#services.writer.write(() => recordRunEvent(this.#services, "mail.held", this.#run, { reason }));
  }

  /** Returns the worker if the run may get its mail now: it holds the name, and is not known to be in another conversation. */
  #reader(): Worker | null {
    const worker = workerById(this.#services.db, this.#run.workerId);
    const run = runById(this.#services.db, this.#run.id);
    const isCurrent = worker?.holderRun === this.#run.id && run?.displacedMs === null && run.endedMs === null;
    if (!isCurrent || worker.paused) return null;
    return lastEntryOfRun(this.#services.db, this.#run.id)?.proved === "false" ? null : worker;
  }

  /** The words of the hooks that can hand mail over. */
  get #words(): string[] {
    return Object.keys(this.#facet.hooks);
  }

  #queued(worker: Worker): Message[] {
    const next = queuedMessages(this.#services.db, worker.projectId, worker.id, PIECE_MESSAGES_MAX);
    return next.filter(({ replyTo }) => replyTo === null || !this.#services.mail.isAwaited(replyTo));
  }

  #conversation(): Conversation | null {
    return conversationOfRun(this.#services.db, this.#run.id);
  }

  #leaveForHook(worker: Worker, queued: readonly Message[]): void {
    const conversation = this.#conversation();
    const words = this.#words.filter((word) => this.#mayUse(word, queued));
    const key = [conversation?.vendorId, ...words, ...queued.map(({ id }) => id)].join(" ");
    if (this.#waiting?.key === key) return;
    if (this.#waiting !== null && !this.#takeBack()) return this.reviewSoon(0);
    if (queued.length === 0 || words.length === 0 || conversation === null) return;
    const mark = newMark();
    const { hooks } = this.#facet;
    const { announced } = this.#handed;
    const { ids, onlyAnnounced, forms } = writeForms(this.#services, worker, queued, { mark, announced, hooks, words });
    if (Object.keys(forms).length === 0) return;
    layOut(this.#runDir, conversation.vendorId, { ...this.#pieceOf(mark, ids), onlyAnnounced }, forms);
    this.#waiting = { mark, ids, key };
  }

  /** Takes back what waits for a hook; false if it is gone, because a hook has taken it, or somebody has removed it. */
  #takeBack(): boolean {
    this.#waiting = null;
    return takeBack(this.#runDir);
  }

  /** Tells whether a hook may hand mail over: one that prolongs a turn does what a wake does, and never without a terminal. */
  #mayUse(word: string, queued: readonly Message[]): boolean {
    const hook = this.#facet.hooks[word];
    if (hook?.headlessOnly === true && !this.#headless) return false;
    if (hook?.prolongs !== true) return true;
    return !this.#headless && boundReached(this.#services, this.#run.workerId, queued) === null;
  }

  /** Tells what will become of a message that arrives while the agent does this. */
  outlook(activity: string): MailOutlook {
    const worker = workerById(this.#services.db, this.#run.workerId);
    if (worker?.paused === true) return "when it is no longer paused";
    if (this.heldReason !== null) return "when a person prompts it";
    if (this.#headless) return this.#words.length > 0 ? "at its next start" : "when it reads its inbox";
    if (this.#services.conversations.foreignConversationOf(this.#run.id) !== null)
      return "when it is back in its own conversation";
    if (activity === "busy") return "at the end of a step";
    return activity === "idle" && this.#wakeChannel() !== null ? "in a moment" : "at its next prompt";
  }

  #pieceOf(mark: string, ids: string[]): Piece {
    const transcript = this.#services.conversations.transcriptOf(this.#run.id);
    return {
      mark,
      ids,
      onlyAnnounced: {},
      transcriptBytes: transcript === null ? 0 : (statIfThere(transcript)?.size ?? 0),
    };
  }

  /** Tells whether a wake would tell anything new: one that carries no mail has no more to say of what was announced already. */
  #wouldTell(queued: readonly Message[]): boolean {
    return queued.some(({ id }) => this.#facet.wake?.nudges !== true || !this.#handed.announced.has(id));
  }

  /** Returns in how many milliseconds the agent may be woken; null when it may not as things are. */
  #wakeInMs(worker: Worker): number | null {
    const wake = this.#wakeChannel();
    if (wake === null || this.#handed.hasUnseen || this.heldReason !== null) return null;
    const mayTakeMs = this.#mayTakeMs(worker, wake);
    if (mayTakeMs === null) return null;
    return Math.max(0, Math.max(mayTakeMs, this.#wakeRestsUntilMs) - this.#services.monotonicMs());
  }

  /** Returns the monotonic time from which on the agent may be given something by the channel; null when it may not as things are. */
  #mayTakeMs(worker: Worker, wake: WakeChannel): number | null {
    if (this.#headless || this.#isGone || worker.holderRun === null) return null;
    const settledMs = this.#idleSinceMs === null ? null : this.#idleSinceMs + WAKE_SETTLE_MS;
    // Before the conversation is proved nobody knows who would be woken, and in another worker's it would be that one's model, unless
    // the text is addressed to the conversation.
    const isProved = lastEntryOfRun(this.#services.db, this.#run.id)?.proved === "true";
    const isElsewhere = this.#services.conversations.foreignConversationOf(this.#run.id) !== null;
    if ((!isProved || isElsewhere) && wake.isAddressed !== true) return null;
    return settledMs ?? (wake.queues === true && this.#isBusy ? 0 : null);
  }

  async #wake(worker: Worker, queued: readonly Message[]): Promise<void> {
    const conversation = this.#conversation();
    const wake = this.#wakeChannel();
    if (conversation === null || wake === null) return;
    if (!wake.nudges && this.#waiting !== null && !this.#takeBack()) return this.reviewSoon(0);
    const mark = newMark();
    const { announced } = this.#handed;
    const guardMentions = this.#facet.readsMentions ?? false;
    const options = { mark, announced, isPrivileged: wake.isPrivileged, guardMentions };
    const { text, ids } = wake.nudges
      ? { text: nudgeLine(mark), ids: [] }
      : writeLetters(this.#services, worker, queued, options);
    const given = { ...this.#pieceOf(mark, ids), channel: wake.name, lines: text.split("\n").length };
    const piece = recordWake(this.#runDir, conversation.vendorId, given);
    await this.#services.writer.write(() => {
      this.#recordTaken();
      this.#countTurn();
    });
    const place = wakePlaceOf(this.#services, this.#run, worker, conversation);
    try {
      const reached = await wake.wake(text, place, mark);
      this.#unfinished.begun();
      // The program may have been slow to take it: its time to show it begins now.
      if (reached) this.#handed.waitLonger(piece);
      else await this.#giveBack({ piece, why: "it cannot be reached this way now", wasHandedOver: false });
    } catch (error) {
      await this.#giveBack({ piece, why: String(error), wasHandedOver: true });
    }
  }

  #wakeChannel(): WakeChannel | null {
    const worker = workerById(this.#services.db, this.#run.workerId);
    const conversation = this.#conversation();
    return (
      worker && conversation && wakeChannelOf(this.#services, { run: this.#run, worker, conversation }, this.#facet)
    );
  }

  /** Records, inside a change, that hooks have taken pieces, or that the agent is being woken with one. */
  #recordTaken(): void {
    for (const { by, mark } of this.#handed.record()) {
      // One that hooks of an earlier daemon's time have taken is not what waits now.
      if (mark === this.#waiting?.mark) this.#waiting = null;
      if (this.#facet.hooks[by]?.prolongs) this.#countTurn();
    }
  }

  /** Counts, inside a change, a turn that mail begins or prolongs. */
  #countTurn(): void {
    const nowMs = this.#services.mail.now();
    insertWake(this.#services.db, this.#run.workerId, nowMs, nowMs - WAKE_WINDOW_MS);
    this.#expectsTurn = true;
  }

  /** Settles what the conversation shows, takes back what it never will, and counts a finished turn's mail as read. */
  async #settle(): Promise<void> {
    const seen = await this.#handed.confirm(this.#handed.hasUnseen ? this.#place() : null);
    if (seen.some(({ by }) => by === WOKEN)) this.#wakeFailures = 0;
    await this.#finishWake();
    const takesMs = this.#wakeChannel()?.takesMs;
    for (const lost of this.#handed.lost(this.#idleSinceMs, takesMs)) await this.#giveBack(lost);
    if (this.#waiting === null && (await this.#handed.dropNudge())) this.#expectsTurn = false;
    // Mail that came while the agent worked did not begin a turn of its own.
    if (await this.#handed.readAfterTurn(this.#idleSinceMs)) this.#expectsTurn = this.#handed.hasUnseen;
  }

  /** Finishes what an earlier daemon has begun, or what took the program too long. */
  async #finishWake(): Promise<void> {
    const [wake, place, worker] = [this.#wakeChannel(), this.#place(), this.#reader()];
    if (!this.#unfinished.isDue(wake) || !wake || !place || !worker) return;
    const mayTakeMs = this.#mayTakeMs(worker, wake);
    if (mayTakeMs === null || mayTakeMs > this.#services.monotonicMs()) return;
    const neverGiven = await this.#unfinished.finish(wake, place);
    if (neverGiven) await this.#giveBack(neverGiven, { rests: false });
  }

  #place(): WakePlace | null {
    const worker = workerById(this.#services.db, this.#run.workerId);
    const conversation = this.#conversation();
    return worker && conversation && wakePlaceOf(this.#services, this.#run, worker, conversation);
  }

  async #giveBack(lost: LostPiece, { rests } = { rests: lost.piece.by === WOKEN }): Promise<void> {
    await this.#handed.giveBack(lost, this.#waiting?.ids ?? []);
    if (rests) this.#restWake();
    this.#expectsTurn = false;
    this.reviewSoon(0);
  }

  /** Leaves the agent alone for a while, each time for longer, until it was reached again. */
  #restWake(): void {
    const restMs = Math.min(CHANNEL_REST_MS * 2 ** this.#wakeFailures, CHANNEL_REST_MS_MAX);
    this.#wakeFailures++;
    this.#wakeRestsUntilMs = this.#services.monotonicMs() + restMs;
  }

  /** Tells whether a hook has just taken mail with which the turn goes on: the agent may be faster than the record of that. */
  #hasProlonged(): boolean {
    return this.#handed.unrecorded().some(({ by }) => this.#facet.hooks[by]?.prolongs);
  }

  /** Ends the chain of mail that made the agent act, when a person has begun a turn. */
  #noteTurn(): void {
    const byMail = this.#expectsTurn || this.#hasProlonged();
    this.#expectsTurn = false;
    if (byMail || hopsOfRun(this.#services.db, this.#run.id) === 0) return;
    this.#services.writer
      .write(() => setHopsOfRun(this.#services.db, this.#run.id, 0))
      .catch((error: unknown) => this.#services.log(`the hops of ${this.#run.id}: ${String(error)}`));
  }
}

const STANDS_IN_INPUT = "mail waits in its input line, beside what somebody typed: send that, or clear it";
