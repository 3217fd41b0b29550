import type { Run } from "../../store/runs.ts";
import { isTurnWorker, workerById } from "../../store/workers.ts";
import { conversationOfRun } from "../../store/conversations.ts";
import { adapterOf } from "../../vendors/index.ts";
import { isHeadless } from "../conversations/proof/proof.ts";
import { mailboxKey } from "../mail/mailbox-change.ts";
import type { MailOutlook } from "../../protocol/records/mail.ts";
import { Courier } from "./courier.ts";
import type { ToolPiece } from "./pieces.ts";
import type { DeliveryServices } from "./services.ts";
import { StatusLine } from "./status-line.ts";

/** The couriers of all runs whose vendor's program can be handed mail. */
export class Couriers {
  readonly #services: DeliveryServices;
  readonly #couriers = new Map<string, { courier: Courier; statusLine: StatusLine | null; unlisten: () => void }>();

  constructor(services: DeliveryServices) {
    this.#services = services;
    services.activities.watch(({ run, activity }) => {
      if (run !== null) this.#couriers.get(run)?.courier.onActivity(activity);
    });
    services.mail.setCouriers({
      recall: (workerId) => this.#ofWorker(workerId)?.recall(),
      review: (workerId) => this.#ofWorker(workerId)?.reviewSoon(0),
      outlookOf: (workerId) => this.#outlookOf(workerId),
    });
  }

  /** Begins to deliver to a run; does nothing for one whose conversation is not known yet, or cannot be handed mail. */
  follow(run: Run): void {
    const vendor = conversationOfRun(this.#services.db, run.id)?.vendor;
    const facet = vendor === undefined ? undefined : adapterOf(vendor)?.delivery;
    const worker = workerById(this.#services.db, run.workerId);
    // A turn is told its messages at its start, and of a worker of turns each ask is a turn of its own.
    if (!facet || !worker || run.turn === 1 || isTurnWorker(worker) || this.#couriers.has(run.id)) return;
    const courier = new Courier(this.#services, run, worker, facet);
    const unlisten = this.#services.mail.listen(mailboxKey(worker.projectId, worker.id), () => courier.reviewSoon(0));
    const isSeen = facet.showsStatusLine === true && !isHeadless(worker, run);
    const statusLine = isSeen ? new StatusLine(this.#services, run, worker.projectId) : null;
    this.#couriers.set(run.id, { courier, statusLine, unlisten });
    courier.begin();
    const now = this.#services.activities.of(worker.id);
    if (now.run === run.id) courier.onActivity(now.activity);
  }

  /**
   * Makes a piece of messages that a tool is about to return to the run's model. Null where nobody could see whether it arrived:
   * then the messages count as read once the answer has left.
   */
  toolPiece(run: string, ids: readonly string[]): ToolPiece | null {
    const vendor = conversationOfRun(this.#services.db, run)?.vendor;
    const isShown = vendor !== undefined && adapterOf(vendor)?.storage.showsToolResults === true;
    return isShown ? (this.#couriers.get(run)?.courier.toolPiece(ids) ?? null) : null;
  }

  /** Looks at what there is to deliver to the run, and at what its hooks have taken. */
  review(run: string): void {
    this.#couriers.get(run)?.courier.reviewSoon(0);
  }

  /** Takes back what waits in a channel of the vendor's, when no process of the run is left. */
  async gone(run: string): Promise<void> {
    await this.#couriers.get(run)?.courier.withdraw();
  }

  /** Takes back, inside the change that ends the run or takes its name, what no hook has taken. */
  ending(run: string): void {
    this.#couriers.get(run)?.courier.settleAtEnd();
  }

  ended(run: string): void {
    const known = this.#couriers.get(run);
    known?.unlisten();
    known?.statusLine?.stop();
    known?.courier.stop();
    this.#couriers.delete(run);
  }

  stop(): void {
    for (const run of this.#couriers.keys()) this.ended(run);
  }

  #outlookOf(workerId: number): MailOutlook {
    const { activity, run } = this.#services.activities.of(workerId);
    if (run === null) return "at its next start";
    return this.#couriers.get(run)?.courier.outlook(activity) ?? "when it reads its inbox";
  }

  /** Returns why mail of the run waits although it could be delivered; null if none does. */
  heldReasonOf(run: string): string | null {
    return this.#couriers.get(run)?.courier.heldReason ?? null;
  }

  #ofWorker(workerId: number): Courier | undefined {
    const { run } = this.#services.activities.of(workerId);
    return run === null ? undefined : this.#couriers.get(run)?.courier;
  }
}
