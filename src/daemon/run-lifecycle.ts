import { WRONG_CONVERSATION_TERM_WAIT_MS } from "../limits/index.ts";
import { TAKEOVER_TERM_WAIT_MS } from "../limits/index.ts";
import type { ProcessInfo } from "../runtime/process/index.ts";
import type { Run } from "../store/runs.ts";
import { workerById } from "../store/workers.ts";
import type { SignOutcome } from "./conversations/binding/bindings.ts";
import { SettingsMerger } from "./conversations/follow/saved-settings.ts";
import { isHeadless } from "./conversations/proof/proof.ts";
import { SuspendedWatch } from "./conversations/follow/suspended.ts";
import type { RunSignListener } from "./conversations/follow/tracker.ts";
import { returnOffers } from "./mail/offer.ts";
import { displaceRun } from "./runs/takeover.ts";
import type { RunListener } from "./runs/watch.ts";
import type { Services } from "./services.ts";

/**
 * The life of a run, stage by stage, with what each stage triggers, in this order:
 *
 *   adopted    the daemon found the run alive in the store: an interrupted stop is finished, the conversation is followed
 *   claimed    the run holds its name; its conversation is followed from the first moment
 *   bound      a vendor that makes its own ids has made the conversation, which is followed from now on
 *   started    a pane has started the wrapper, which holds the name in place of the claimer
 *   polled     once a second while the run lives: a suspended run is reported, and settings that were changed inside the
 *              program are merged into the user's own
 *   hookFile   the agent's hook has written a file, which the follower reads for signs
 *   signed     a sign is on disk: mail may wake a run that is proved, and a headless run in the wrong conversation is stopped
 *   exited     the wrapper has left the exit code of its program; a headless run is judged while the wrapper waits
 *   gone       no process of the run is left: its conversation is copied, and mail that waits in a queue of the vendor's is taken
 *              back, and the last settings are merged, before anybody learns of the end
 *   ending     inside the change that ends the run or takes its name: the last dialog and signs are recorded, what came of
 *              a turn is settled, offered mail is returned, and waiting askers check their asks again
 *   ended      that change is on disk: who waits for the worker's activity learns of it, last proof and custody, then the
 *              fleet decides about a restart, and the next turn may begin
 */
export class RunLifecycle implements RunListener, RunSignListener {
  readonly #services: Services;
  readonly #suspended: SuspendedWatch;
  readonly #settings: SettingsMerger;

  constructor(services: Services) {
    this.#services = services;
    this.#suspended = new SuspendedWatch(services);
    this.#settings = new SettingsMerger(services);
  }

  /** Subscribes to the stages; has to be called before the first run is tracked. */
  subscribe(): void {
    this.#services.runs.subscribe(this);
    this.#services.conversations.subscribe(this);
  }

  /** Finishes the stop that an earlier daemon began, and follows the run. */
  adopted(run: Run): void {
    if (run.displacedMs !== null || run.stoppedBy !== null) void this.#finishStop(run);
    this.#services.activities.began(run.id, run.workerId);
    this.#services.conversations.follow(run, true);
    this.#services.couriers.follow(run);
    this.#services.turns.adopted(run);
    this.#settings.follow(run);
  }

  claimed(run: Run): void {
    this.#services.activities.began(run.id, run.workerId);
    this.#services.conversations.follow(run);
    this.#services.couriers.follow(run);
    this.#settings.follow(run);
  }

  bound(run: Run): void {
    this.#services.conversations.follow(run);
    this.#services.couriers.follow(run);
    this.#settings.follow(run);
  }

  started(run: Run): void {
    this.#services.conversations.setHolder(run);
  }

  polled(run: Run, live: ProcessInfo[]): void {
    this.#suspended.polled(run, live);
    this.#settings.polled(run);
  }

  hookFile(run: string): void {
    this.#services.conversations.onHookFile(run);
    this.#services.couriers.review(run);
  }

  exited(run: string): void {
    this.#services.conversations.exited(run);
  }

  async signed(run: Run, outcome: SignOutcome): Promise<void> {
    // Nobody is woken before it is proved, or in another worker's conversation, and an agent may be idle by then.
    this.#services.couriers.review(run.id);
    if (outcome === "proved" || outcome === "mismatch") this.#services.conversations.leaveVerdict(run);
    if (outcome === "mismatch") await this.#stopHeadless(run);
  }

  async gone(run: Run): Promise<void> {
    await Promise.all([
      this.#services.conversations.copyBeforeEnd(run),
      this.#services.couriers.gone(run.id),
      this.#services.turns.gone(run),
      this.#settings.gone(run),
    ]);
  }

  ending(run: Run, exit: number | null): void {
    this.#services.fleet.ending(run);
    this.#services.conversations.applyFinalSigns(run, exit);
    this.#services.couriers.ending(run.id);
    this.#services.turns.ending(run, exit);
    returnOffers(this.#services, run.id);
    this.#services.mail.notifyAskers(run.workerId);
  }

  ended(run: string): void {
    this.#suspended.ended(run);
    this.#settings.ended(run);
    this.#services.activities.ended(run);
    this.#services.couriers.ended(run);
    this.#services.conversations.ended(run);
    this.#services.fleet.ended(run);
    this.#services.turns.ended(run);
  }

  async #finishStop(run: Run): Promise<void> {
    try {
      await this.#services.stopper.stop(run, TAKEOVER_TERM_WAIT_MS);
    } catch (error) {
      this.#services.log(`could not finish stopping ${run.id}: ${String(error)}`);
    }
  }

  /** Stops a headless run in the wrong conversation, because nobody sits in front of it to notice. */
  async #stopHeadless(run: Run): Promise<void> {
    const worker = workerById(this.#services.db, run.workerId);
    if (!worker || !isHeadless(worker, run)) return;
    const by = "perdure, because it came up in another conversation";
    const displaced = await this.#services.writer.write(() => displaceRun(this.#services, worker.id, by));
    if (displaced?.id === run.id) await this.#services.stopper.stop(displaced, WRONG_CONVERSATION_TERM_WAIT_MS);
  }
}
