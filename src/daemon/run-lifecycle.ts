import { TAKEOVER_TERM_WAIT_MS } from "../limits/index.ts";
import type { ProcessInfo } from "../runtime/process/index.ts";
import type { Run } from "../store/runs.ts";
import { workerById } from "../store/workers.ts";
import type { SignOutcome } from "./conversations/bindings.ts";
import { isHeadless } from "./conversations/proof.ts";
import { SuspendedWatch } from "./conversations/suspended.ts";
import type { SignListener } from "./conversations/tracker.ts";
import { returnOffers } from "./mail/transition.ts";
import { displaceRun } from "./runs/takeover.ts";
import type { RunListener } from "./runs/watch.ts";
import type { Services } from "./services.ts";

/**
 * The life of a run, stage by stage, and who is told at each, in that order:
 *
 *   claimed    the name is the run's; its conversation is followed from the first instant
 *   bound      a vendor that makes its own ids has made the conversation: it is followed from now on
 *   started    a pane has started the wrapper, which holds the name in the claimer's place
 *   polled     once a second while it lives: a suspended run is told of
 *   hookFile   the agent's hook has left a file: the follower reads it, and signs come of it
 *   signed     a sign is on disk; a headless run in the wrong conversation is stopped
 *   ending     inside the change that ends the run or takes its name: last dialog, last signs, offers go back, askers look
 *   ended      that change is on disk: last proof and custody, then the fleet decides about the next start
 */
export class RunLifecycle implements RunListener, SignListener {
  readonly #services: Services;
  readonly #suspended: SuspendedWatch;

  constructor(services: Services) {
    this.#services = services;
    this.#suspended = new SuspendedWatch(services);
  }

  /** Has to come before the first run is tracked. */
  subscribe(): void {
    this.#services.runs.subscribe(this);
    this.#services.conversations.subscribe(this);
  }

  /** What the last daemon was about to stop is stopped by this one. */
  adopted(run: Run): void {
    if (run.displacedMs !== null || run.stoppedBy !== null) void this.#finishStop(run);
    this.#services.conversations.follow(run, true);
  }

  claimed(run: Run): void {
    this.#services.conversations.follow(run);
  }

  bound(run: Run): void {
    this.#services.conversations.follow(run);
  }

  started(run: Run): void {
    this.#services.conversations.setHolder(run);
  }

  polled(run: Run, live: ProcessInfo[]): void {
    this.#suspended.polled(run, live);
  }

  hookFile(run: string): void {
    this.#services.conversations.onHookFile(run);
  }

  async signed(run: Run, outcome: SignOutcome): Promise<void> {
    if (outcome === "mismatch") await this.#stopHeadless(run);
  }

  ending(run: Run, exit: number | null): void {
    this.#services.fleet.ending(run);
    this.#services.conversations.applyFinalSigns(run, exit);
    returnOffers(this.#services, run.id);
    this.#services.mail.notifyAskers(run.workerId);
  }

  ended(run: string): void {
    this.#suspended.ended(run);
    this.#services.conversations.ended(run);
    this.#services.fleet.ended(run);
  }

  async #finishStop(run: Run): Promise<void> {
    try {
      await this.#services.stopper.stop(run, TAKEOVER_TERM_WAIT_MS);
    } catch (error) {
      this.#services.log(`could not finish stopping ${run.id}: ${String(error)}`);
    }
  }

  /** Nobody sits in front of a headless run to see that it is in the wrong conversation. */
  async #stopHeadless(run: Run): Promise<void> {
    const worker = workerById(this.#services.db, run.workerId);
    if (!worker || !isHeadless(worker)) return;
    const by = "perdure, because it came up in another conversation";
    const displaced = await this.#services.writer.write(() => displaceRun(this.#services, worker.id, by));
    if (displaced?.id === run.id) await this.#services.stopper.stop(displaced, 0);
  }
}
