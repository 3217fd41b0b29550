import { HELD_REVIEW_MS, RECONCILE_MS, TURN_RETRY_MS, TURN_RETRY_MS_MAX } from "../../limits/index.ts";
import { turnSettingsAt, type TurnSettings } from "../../project/config/turn-settings.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import { hinted } from "../../protocol/hint.ts";
import type { MailOutlook } from "../../protocol/records/mail.ts";
import { setOnHold } from "../../store/fleet.ts";
import { failureKind } from "../../store/failure.ts";
import { messageById } from "../../store/messages.ts";
import { projectById } from "../../store/projects.ts";
import { runById, type Run } from "../../store/runs.ts";
import { turnOfRun } from "../../store/turns.ts";
import { desiredWorkers, isTurnWorker, workerById, type Worker } from "../../store/workers.ts";
import type { TurnProgress } from "../../vendors/turn.ts";
import { adapterOf } from "../../vendors/index.ts";
import { recordEvent } from "../events.ts";
import { HELD_MAIL_KEY, mailboxKey } from "../mail/mailbox-change.ts";
import { dueTurn } from "./due-turn.ts";
import { TurnFollower } from "./follow-turn.ts";
import type { TurnServices } from "./services.ts";
import { startTurn } from "./start-turn.ts";

type ProgressListener = (progress: TurnProgress | { kind: "started"; run: string }) => void;

/**
 * Makes the turns that mail asks for: a worker without a process is started in its conversation, told its messages, and the last thing
 * that it says is the answer. One turn at a time for each worker, and so many over all. What waits is in the mailboxes, and what goes on
 * is in the store and in the runs' folders, so the next daemon goes on where a killed one was.
 */
export class Turns {
  readonly #services: TurnServices;
  readonly #followers = new Map<string, TurnFollower>();
  /** The workers of the turns whose programs live, answered or not, by their runs. */
  readonly #live = new Map<string, number>();
  /** The workers whose mailboxes are listened to. */
  readonly #listening = new Map<number, () => void>();
  readonly #starting = new Set<number>();
  /** The workers that wait for others to end their turns, in the order in which they came. */
  readonly #waiting = new Set<number>();
  /** Why mail of a worker waits although nothing else is under way. */
  readonly #heldReasons = new Map<number, string>();
  readonly #retries = new Map<number, { failures: number; timer: NodeJS.Timeout | null }>();
  /** The asks for which the operator wants a turn, whatever the mode of the worker, and how often they are waited for. */
  readonly #requested = new Map<string, number>();
  readonly #progress = new Map<string, Set<ProgressListener>>();
  #heldTimer: NodeJS.Timeout | null = null;
  #timer: NodeJS.Timeout | null = null;
  #stopped = false;
  #isStarted = false;

  constructor(services: TurnServices) {
    this.#services = services;
  }

  /** Takes over after the daemon's start: what is under way is followed already. */
  start(): void {
    this.#isStarted = true;
    for (const { run } of this.#followers.values()) this.#keepOffers(run.id);
    for (const worker of desiredWorkers(this.#services.db)) if (isTurnWorker(worker)) this.follow(worker);
    this.#timer = setInterval(() => this.#reconcile(), RECONCILE_MS).unref();
  }

  stop(): void {
    this.#stopped = true;
    for (const follower of this.#followers.values()) follower.close();
    for (const unlisten of this.#listening.values()) unlisten();
    for (const { timer } of this.#retries.values()) if (timer) clearTimeout(timer);
    if (this.#heldTimer) clearTimeout(this.#heldTimer);
    if (this.#timer) clearInterval(this.#timer);
  }

  /** Looks at every worker with mail: what kept it from a turn may have been put right in a way that tells nobody. */
  #reconcile(): void {
    const { db } = this.#services;
    for (const workerId of this.#listening.keys()) {
      const worker = workerById(db, workerId);
      if (worker === null || worker.retiredMs !== null) this.#forget(workerId);
      else if (db.mailboxCounters.count(worker.projectId, workerId).messages > 0) this.#review(workerId);
    }
  }

  #forget(workerId: number): void {
    this.#listening.get(workerId)?.();
    this.#listening.delete(workerId);
    this.#forgetFailures(workerId);
    this.#hold(workerId, null);
  }

  /** Tells whether the daemon has to stay, because a turn will begin by itself. */
  hasPendingStarts(): boolean {
    return this.#starting.size + this.#waiting.size + this.#heldReasons.size + this.#retries.size > 0;
  }

  /** Begins to make the turns of a worker. */
  follow({ id, projectId }: Pick<Worker, "id" | "projectId">): void {
    if (!this.#listening.has(id)) {
      this.#listening.set(
        id,
        this.#services.mail.listen(mailboxKey(projectId, id), () => this.#review(id)),
      );
    }
    this.#review(id);
  }

  /** Makes a turn for an ask of the operator's until the returned function is called, whatever the mode of the worker. */
  request(worker: Pick<Worker, "id" | "projectId">, ask: string): () => void {
    this.#requested.set(ask, (this.#requested.get(ask) ?? 0) + 1);
    this.follow(worker);
    return () => {
      const left = (this.#requested.get(ask) ?? 1) - 1;
      if (left > 0) this.#requested.set(ask, left);
      else this.#requested.delete(ask);
    };
  }

  /** Calls the listener with what the turn of an ask shows; returns a function that removes it. */
  watch(ask: string, listener: ProgressListener): () => void {
    const listeners = this.#progress.get(ask) ?? new Set();
    this.#progress.set(ask, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#progress.delete(ask);
    };
  }

  /** Returns the run of the turn that goes on for an ask; null without any. */
  runOf(ask: string): string | null {
    for (const run of this.#followers.keys()) {
      const turn = turnOfRun(this.#services.db, run);
      if (turn?.ask === ask && turn.outcome === null) return run;
    }
    return null;
  }

  /** Returns why mail of the worker waits although it could begin a turn; null if none does. */
  heldReasonOf(workerId: number): string | null {
    return this.#heldReasons.get(workerId) ?? null;
  }

  /** Tells what will become of a message to the worker; null for a worker that is not one of turns. */
  outlookOf(workerId: number): MailOutlook | null {
    const worker = workerById(this.#services.db, workerId);
    if (worker === null || !isTurnWorker(worker)) return null;
    if (worker.paused) return "when it is no longer paused";
    if (worker.onHold !== null || this.#heldReasons.has(workerId)) return "when a person has looked at it";
    const run = worker.holderRun === null ? null : runById(this.#services.db, worker.holderRun);
    return run !== null && run.turn !== 1 ? "when nobody has it open any more" : "in a turn of its own";
  }

  /** Follows a turn that an earlier daemon has begun, or that ended while there was none. */
  adopted(run: Run): void {
    if (run.turn === 1) this.#live.set(run.id, run.workerId);
    this.#followRun(run, true);
  }

  /** Finds out, before the end is published, what the turn has left in its conversation. */
  async gone(run: Run): Promise<void> {
    await this.#followers.get(run.id)?.gone();
  }

  /** Settles, inside the change that ends the run or takes its name, what came of its turn. */
  ending(run: Run, exit: number | null): void {
    this.#followers.get(run.id)?.settleAtEnd(exit);
  }

  ended(runId: string): void {
    this.#live.delete(runId);
    const follower = this.#followers.get(runId);
    follower?.close();
    this.#followers.delete(runId);
    const run = runById(this.#services.db, runId);
    if (run === null || this.#stopped || !this.#isStarted) return;
    const turn = follower && turnOfRun(this.#services.db, runId);
    if (turn) this.#noteOutcome(run.workerId, turn.outcome === "returned");
    this.#review(run.workerId);
    this.#reviewAll(this.#waiting);
  }

  /** A turn that did nothing is made again after a while, for longer each time. */
  #noteOutcome(workerId: number, isReturned: boolean): void {
    if (!isReturned) return this.#forgetFailures(workerId);
    this.#retryLater(workerId);
  }

  #forgetFailures(workerId: number): void {
    const known = this.#retries.get(workerId);
    if (known?.timer) clearTimeout(known.timer);
    this.#retries.delete(workerId);
  }

  #retryLater(workerId: number): void {
    const { failures, timer: before } = this.#retries.get(workerId) ?? { failures: 0, timer: null };
    if (before) clearTimeout(before);
    const timer = setTimeout(
      () => {
        this.#retries.set(workerId, { failures: failures + 1, timer: null });
        this.#review(workerId);
      },
      Math.min(TURN_RETRY_MS * 2 ** failures, TURN_RETRY_MS_MAX),
    ).unref();
    this.#retries.set(workerId, { failures, timer });
  }

  /** Starts the worker's next turn, if its mail asks for one and nothing stands against it. */
  #review(workerId: number): void {
    if (this.#stopped || !this.#isStarted || this.#starting.has(workerId)) return;
    const worker = workerById(this.#services.db, workerId);
    const project = worker && projectById(this.#services.db, worker.projectId);
    this.#waiting.delete(workerId);
    if (!worker || !project || !this.#isFree(worker)) return this.#hold(workerId, null);
    const settings = turnSettingsAt(project.root, process.env);
    const due = dueTurn(this.#services, worker, new Set(this.#requested.keys()), settings);
    if (due === null && !this.#retries.get(workerId)?.timer) this.#retries.delete(workerId);
    this.#hold(workerId, due?.kind === "bound" ? due.reason : null);
    if (due?.kind !== "turn") return;
    if (!this.#hasRoom(worker, settings)) return void this.#waiting.add(workerId);
    this.#starting.add(workerId);
    void this.#start(worker, due.next).finally(() => {
      this.#starting.delete(workerId);
      this.#review(workerId);
      this.#reviewAll(this.#waiting);
    });
  }

  /** Reviews those that are among them now: a review takes a worker out and may put it in again. */
  #reviewAll(workerIds: Iterable<number>): void {
    const present = Array.from(workerIds);
    for (const workerId of present) this.#review(workerId);
  }

  /** Tells whether a turn of the worker could begin: it has no process, and nobody has stopped it. */
  #isFree(worker: Worker): boolean {
    if (worker.retiredMs !== null || worker.paused || worker.onHold !== null || worker.unresumable !== null)
      return false;
    if (this.#retries.get(worker.id)?.timer) return false;
    const run = worker.holderRun === null ? null : runById(this.#services.db, worker.holderRun);
    return run === null || this.#services.runs.processesOf(run).length === 0;
  }

  #hasRoom({ projectId }: Worker, { atOnce }: TurnSettings): boolean {
    const busy = new Set([...this.#live.values(), ...this.#starting]);
    const own = [...busy].filter((id) => this.#projectOf(id) === projectId);
    return busy.size < atOnce.all && own.length < atOnce.project;
  }

  #projectOf(workerId: number): number | null {
    return workerById(this.#services.db, workerId)?.projectId ?? null;
  }

  async #start(worker: Worker, next: Parameters<typeof startTurn>[2]): Promise<void> {
    try {
      const run = await startTurn(this.#services, worker, next);
      if (run === null) return;
      if (runById(this.#services.db, run.id)?.endedMs === null) this.#live.set(run.id, worker.id);
      this.#followRun(run, false);
    } catch (error) {
      await this.#refused(worker, error).catch((why: unknown) => {
        const kind = failureKind(why);
        if (kind === null) this.#services.log(`the turn of ${worker.name} could not be refused: ${String(why)}`);
        else this.#services.onStoreFailure(kind, why);
      });
    }
  }

  /** Records for a person why no turn begins, or tries again later where that may help. */
  async #refused(worker: Worker, error: unknown): Promise<void> {
    if (!isPerdureError(error)) this.#services.log(`could not start a turn of ${worker.name}: ${String(error)}`);
    // `ls` shows by other means that the conversation cannot be resumed; a name that is held is free again when its run ends.
    if (isPerdureError(error) && (error.details?.unresumable === true || error.code === "held")) return;
    if (isPerdureError(error) && error.retryable) return this.#retryLater(worker.id);
    const reason = isPerdureError(error) ? error.message : String(error);
    const next = isPerdureError(error) && error.next.length > 0 ? { next: error.next } : {};
    const subject = { projectId: worker.projectId, workerId: worker.id };
    await this.#services.writer.write(() => {
      setOnHold(this.#services.db, worker.id, { state: "on-hold", reason, ...next });
      recordEvent(this.#services, "worker.on-hold", subject, { reason, ...hinted(next.next) });
    });
  }

  #followRun(run: Run, adopted: boolean): void {
    const worker = workerById(this.#services.db, run.workerId);
    const turn = turnOfRun(this.#services.db, run.id);
    const facet = adapterOf(worker?.vendor ?? "")?.turn;
    const project = worker && projectById(this.#services.db, worker.projectId);
    if (!worker || !project || turn === null || turn.outcome !== null || !facet || this.#followers.has(run.id)) return;
    const { timeoutMs } = turnSettingsAt(project.root, process.env);
    const onProgress = (progress: TurnProgress): void => this.#publish(turn.ask, progress);
    this.#followers.set(run.id, new TurnFollower(this.#services, run, turn, facet, { timeoutMs, adopted, onProgress }));
    this.#publish(turn.ask, { kind: "started", run: run.id });
  }

  #publish(ask: string | null, progress: Parameters<ProgressListener>[0]): void {
    for (const listener of this.#progress.get(ask ?? "") ?? []) listener(progress);
  }

  /** The offers of a turn are taken back by its end, not by the time that a reader has. */
  #keepOffers(runId: string): void {
    for (const id of turnOfRun(this.#services.db, runId)?.messages ?? []) {
      const message = messageById(this.#services.db, id);
      if (message) this.#services.mail.dropOfferDeadline(message.seq);
    }
  }

  /** Notes why mail waits, and looks again after a while: bounds pass. */
  #hold(workerId: number, reason: string | null): void {
    const before = this.#heldReasons.get(workerId) ?? null;
    if (reason === null) this.#heldReasons.delete(workerId);
    else this.#heldReasons.set(workerId, reason);
    if (reason !== null && this.#heldTimer === null) {
      this.#heldTimer = setTimeout(() => {
        this.#heldTimer = null;
        this.#reviewAll(this.#heldReasons.keys());
      }, HELD_REVIEW_MS).unref();
    }
    if (before === reason) return;
    this.#services.mail.notify(HELD_MAIL_KEY);
    const projectId = this.#projectOf(workerId);
    if (reason === null || projectId === null) return;
    this.#services.writer
      .write(() => recordEvent(this.#services, "mail.held", { projectId, workerId }, { reason }))
      .catch((error: unknown) => this.#services.log(`mail.held of worker ${workerId}: ${String(error)}`));
  }
}
