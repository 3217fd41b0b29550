import { PIECE_POLL_MS, PIECE_UNSEEN_IDLE_MS, PIECE_UNSEEN_MS, WAKE_SETTLE_MS } from "../../limits/index.ts";
import { messageById, offersOfRun, uncountOffer, type Message } from "../../store/messages.ts";
import type { Run } from "../../store/runs.ts";
import { hopsOfRun, setHopsOfRun } from "../../store/wakes.ts";
import { LAUNCH, type DeliveryFacet, type WakePlace } from "../../vendors/delivery.ts";
import { own } from "../../util/own.ts";
import { recordRunEvent } from "../events.ts";
import { transition } from "../mail/transition.ts";
import { channelOf, withdrawPiece } from "./channels.ts";
import { failureOf, forgetPiece, isNudge, takenPieces, WOKEN, type TakenPiece } from "./pieces.ts";
import type { DeliveryServices } from "./services.ts";
import { ShownPieces } from "./shown-pieces.ts";

/** A piece that will not be seen any more, and why. */
export interface LostPiece {
  piece: TakenPiece;
  why: string;
  /** False: it never reached the program. */
  wasHandedOver: boolean;
}

/** The pieces that were handed to a run's agent, from their receipt until the conversation shows them and their turn is over. */
export class HandedOver {
  readonly #services: DeliveryServices;
  readonly #run: Run;
  readonly #facet: DeliveryFacet;
  readonly #runDir: string;
  readonly #shown: ShownPieces;
  /** Pieces that were not seen in the conversation yet, by their folder, with the monotonic time of their receipt. */
  readonly #unseen = new Map<string, { piece: TakenPiece; sinceMs: number }>();
  /** Messages that the model has got in a turn that may still go on. */
  #injected: { ids: string[]; atMs: number };
  readonly #announced = new Set<string>();

  constructor(services: DeliveryServices, run: Run, facet: DeliveryFacet) {
    this.#services = services;
    this.#run = run;
    this.#facet = facet;
    this.#runDir = services.runs.runDir(run.id);
    this.#shown = new ShownPieces(facet);
    // An earlier daemon saw them enter the conversation, in a turn that may still go on.
    const before = offersOfRun(services.db, run.id).filter(({ state }) => state === "injected");
    this.#injected = { ids: before.map(({ id }) => id), atMs: services.monotonicMs() };
  }

  /** Messages that wait in the mailbox, and that the run was told of in a line. */
  get announced(): ReadonlySet<string> {
    return this.#announced;
  }

  /** The model has got messages in a turn that may still go on. */
  get hasInjected(): boolean {
    return this.#injected.ids.length > 0;
  }

  get hasUnseen(): boolean {
    return this.#unseen.size > 0;
  }

  /** Returns the pieces with a receipt of which nothing is on record yet. */
  unrecorded(): TakenPiece[] {
    return takenPieces(this.#runDir).filter(({ folder }) => !this.#unseen.has(folder));
  }

  /** Records, inside a change, that hooks have taken pieces, or that the agent is being woken with one; returns them. */
  record(): TakenPiece[] {
    const taken = this.unrecorded().map((piece) => this.#withoutAnnounced(piece));
    for (const piece of taken) {
      this.#unseen.set(piece.folder, { piece, sinceMs: this.#services.monotonicMs() });
      for (const id of piece.ids) {
        const message = messageById(this.#services.db, id);
        if (message?.toWorker !== this.#run.workerId) continue;
        // The piece has bounds of its own, and one that an earlier daemon handed over counts from now on.
        this.#services.mail.dropOfferDeadline(message.seq);
        const { id: run, generation } = this.#run;
        transition(this.#services, message, "offer", { run, generation, reason: channelOf(piece) });
      }
    }
    return taken;
  }

  /** Settles, inside the change that ends the run, what the conversation shows. */
  settleAtEnd(): void {
    for (const piece of this.#seenOnDisk()) this.#apply(piece.ids, "inject", channelOf(piece));
  }

  /** Settles what the conversation shows, and returns it. `place` is where the program can be asked, if it can. */
  async confirm(place: WakePlace | null): Promise<TakenPiece[]> {
    const onDisk = this.#seenOnDisk();
    for (const piece of onDisk) await this.#inject(piece);
    const told = place === null ? [] : await this.#shown.byProgram(this.#pieces(), place);
    for (const piece of told) await this.#inject(piece);
    return [...onDisk, ...told];
  }

  /** Returns the piece that the agent was to be woken with, and that was not seen yet; null if there is none. */
  unseenWake(): TakenPiece | null {
    return this.#pieces().find(({ by }) => by === WOKEN) ?? null;
  }

  /** Gives a piece that is not seen yet its time again, from now on. */
  waitLonger(piece: TakenPiece): void {
    this.#unseen.set(piece.folder, { piece, sinceMs: this.#services.monotonicMs() });
  }

  /** Returns the pieces that failed, or that the conversation has not shown in time; `takesMs` is the time of the channel that wakes. */
  lost(idleSinceMs: number | null, takesMs = PIECE_UNSEEN_IDLE_MS): LostPiece[] {
    const now = this.#services.monotonicMs();
    const isIdle = idleSinceMs !== null && now - idleSinceMs > PIECE_UNSEEN_IDLE_MS;
    return [...this.#unseen.values()].flatMap(({ piece, sinceMs }): LostPiece[] => {
      const failure = failureOf(piece);
      // One that was put into the conversation before the start may stand there although what followed has failed.
      if (failure !== null) return [{ piece, why: failure, wasHandedOver: piece.by === LAUNCH }];
      const idleMs = piece.by === WOKEN ? takesMs : PIECE_UNSEEN_IDLE_MS;
      if (now - sinceMs <= (isIdle ? idleMs : PIECE_UNSEEN_MS)) return [];
      return [{ piece, why: "the conversation does not show it", wasHandedOver: true }];
    });
  }

  /** Gives the messages of a piece back. `waiting` are those that a nudge was for. */
  async giveBack({ piece, why, wasHandedOver }: LostPiece, waiting: readonly string[]): Promise<void> {
    await withdrawPiece(this.#services, this.#run, this.#facet, piece);
    const reason = `not ${channelOf(piece)}: ${why}`;
    const announced = announcedIn(piece);
    const ids = isNudge(piece) ? waiting : [...piece.ids, ...announced];
    for (const id of announced) this.#announced.delete(id);
    await this.#services.writer.write(() => {
      const returned = this.#apply(piece.ids, "return", reason);
      // The next text must not say that the model may have seen it.
      if (!wasHandedOver) for (const { seq } of returned) uncountOffer(this.#services.db, seq);
      recordRunEvent(this.#services, "mail.undelivered", this.#run, { ids, reason });
    });
    this.#forget(piece);
  }

  /** Takes a nudge back whose mail another turn has got, because its own turn would find nothing; false if there is none. */
  async dropNudge(): Promise<boolean> {
    const [nudge, ...others] = this.#pieces();
    if (nudge === undefined || others.length > 0 || !isNudge(nudge)) return false;
    if (this.#services.monotonicMs() - this.#injected.atMs < PIECE_POLL_MS) return false;
    await withdrawPiece(this.#services, this.#run, this.#facet, nudge);
    this.#forget(nudge);
    return true;
  }

  /** Takes back, when no process of the run is left, what its program was to be woken with: no later run may begin with it. */
  async withdrawAll(): Promise<void> {
    for (const piece of takenPieces(this.#runDir)) await withdrawPiece(this.#services, this.#run, this.#facet, piece);
  }

  /** Counts the mail of a turn as read once the turn is over; false if there is none, or the turn goes on. */
  async readAfterTurn(idleSinceMs: number | null): Promise<boolean> {
    const { ids, atMs } = this.#injected;
    const now = this.#services.monotonicMs();
    const isOver = idleSinceMs !== null && now - atMs > WAKE_SETTLE_MS && now - idleSinceMs > WAKE_SETTLE_MS;
    if (ids.length === 0 || !isOver) return false;
    this.#injected = { ids: [], atMs: 0 };
    await this.#services.writer.write(() => this.#apply(ids, "read", "its turn ended"));
    return true;
  }

  /** Leaves what the hook only announced in the mailbox. */
  #withoutAnnounced(piece: TakenPiece): TakenPiece {
    const announced = announcedIn(piece);
    for (const id of announced) this.#announced.add(id);
    return { ...piece, ids: piece.ids.filter((id) => !announced.includes(id)) };
  }

  #pieces(): TakenPiece[] {
    return [...this.#unseen.values()].map(({ piece }) => piece);
  }

  #seenOnDisk(): TakenPiece[] {
    if (this.#unseen.size === 0) return [];
    return this.#shown.onDisk(this.#pieces(), this.#services.conversations.transcriptOf(this.#run.id));
  }

  async #inject(piece: TakenPiece): Promise<void> {
    const { db } = this.#services;
    await this.#services.writer.write(() => {
      this.#apply(piece.ids, "inject", channelOf(piece));
      const hops = piece.ids.map((id) => messageById(db, id)?.hops ?? 0);
      setHopsOfRun(db, this.#run.id, Math.max(hopsOfRun(db, this.#run.id), ...hops));
    });
    this.#injected = { ids: [...this.#injected.ids, ...piece.ids], atMs: this.#services.monotonicMs() };
    this.#forget(piece);
  }

  /** Moves on, inside a change, those of the messages that are offered to this run, and returns them. */
  #apply(ids: readonly string[], event: "inject" | "read" | "return", reason: string): Message[] {
    return ids.flatMap((id) => {
      const message = messageById(this.#services.db, id);
      if (message?.offerRun !== this.#run.id) return [];
      return transition(this.#services, message, event, { run: this.#run.id, reason }) ? [message] : [];
    });
  }

  #forget(piece: TakenPiece): void {
    this.#unseen.delete(piece.folder);
    forgetPiece(piece);
  }
}

/** Returns the ids that whoever took the piece has only announced. */
function announcedIn({ onlyAnnounced, by }: TakenPiece): readonly string[] {
  return own(onlyAnnounced, by) ?? [];
}
