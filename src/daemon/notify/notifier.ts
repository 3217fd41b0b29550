import { afterLook, dueInMs, isUndecided, quietForMs, told, type Need, type Notice } from "../../core/notices.ts";
import { LOOK_AGAIN_MS, LOOKS_AFTER_KEY_MS, MARKS_SETTLE_MS, START_LOOK_MS } from "../../limits/index.ts";
import type { WorkerSummary } from "../../protocol/records/worker.ts";
import { showsPane } from "../../runtime/tmux/clients.ts";
import type { PaneMark } from "../../runtime/tmux/server.ts";
import { isNoRecordAfter, lastEventSeq } from "../../store/events.ts";
import {
  allNotices,
  deleteNotice,
  setNotice,
  unreadSenders,
  workersChanged,
  workersToLookAt,
  type StoredNotice,
} from "../../store/notices.ts";
import { workerById } from "../../store/workers.ts";
import { HELD_MAIL_KEY, OPERATOR_MAIL_KEY } from "../mail/mailbox-change.ts";
import { mailNeed, needOf, noticeOf, summaryOf, wentOnNotice, wordsBelow } from "./needs.ts";
import { NoticeSender } from "./sender.ts";
import type { NotifyServices } from "./services.ts";

type Subject = StoredNotice["subject"];

/** One thing that somebody may be needed for: a worker, or the mail of a worker to the operator. */
interface Entry {
  workerId: number;
  subject: Subject;
  notice: Notice;
  timer: NodeJS.Timeout | null;
}

/**
 * Notices which workers need somebody, marks them in our tmux, and tells the user once, when it has lasted, nobody looks, and it is
 * no quiet hour. The rules are in core/notices.ts; what was told is in the store.
 */
export class Notifier {
  readonly sender: NoticeSender;
  readonly #services: NotifyServices;
  readonly #entries = new Map<string, Entry>();
  readonly #due = new Set<number>();
  readonly #starting = new Set<NodeJS.Timeout>();
  #mailIsDue = false;
  #timer: NodeJS.Timeout | null = null;
  #seenSeq = 0;
  #stops: (() => void)[] = [];

  constructor(services: NotifyServices) {
    this.#services = services;
    this.sender = new NoticeSender(services);
  }

  /** Takes over what an earlier daemon noticed, and looks at every worker. */
  start(): void {
    const { db, activities, mail, onCommit, now, monotonicMs } = this.#services;
    for (const stored of allNotices(db)) this.#takeOver(stored, now(), monotonicMs());
    this.#seenSeq = lastEventSeq(db);
    this.#stops = [
      activities.watch(({ workerId }) => this.#lookSoon([workerId])),
      onCommit(() => this.#onCommit()),
      mail.listen(OPERATOR_MAIL_KEY, () => this.#lookAtMailSoon()),
      mail.listen(HELD_MAIL_KEY, () => this.#lookSoon(workersToLookAt(db))),
    ];
    this.#lookSoon([...workersToLookAt(db), ...[...this.#entries.values()].map(({ workerId }) => workerId)]);
    this.#lookAtMailSoon();
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    if (this.#timer) clearTimeout(this.#timer);
    for (const timer of this.#starting) clearTimeout(timer);
    for (const { timer } of this.#entries.values()) if (timer) clearTimeout(timer);
  }

  #takeOver({ workerId, subject, toldMs, ...stored }: StoredNotice, nowMs: number, monotonicMs: number): void {
    const ago = (ms: number): number => monotonicMs - Math.max(0, nowMs - ms);
    const lastToldAtMs = toldMs === null ? null : ago(toldMs);
    const notice = { ...stored, noticedAtMs: ago(stored.sinceMs), lastToldAtMs };
    this.#entries.set(keyOf(subject, workerId), { workerId, subject, notice, timer: null });
  }

  /** Most commits are mail, about which somebody else tells. */
  #onCommit(): void {
    const { db } = this.#services;
    const seq = lastEventSeq(db);
    if (seq === this.#seenSeq) return;
    if (!isNoRecordAfter(db, this.#seenSeq)) this.#lookSoon(workersChanged(db, this.#seenSeq));
    this.#seenSeq = seq;
  }

  #lookAtMailSoon(): void {
    this.#mailIsDue = true;
    this.#lookSoon([]);
  }

  /** A fleet that starts or falls together is looked at once. */
  #lookSoon(workerIds: readonly number[]): void {
    for (const id of workerIds) this.#due.add(id);
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#look().catch((error: unknown) => this.#services.log(`notices: ${String(error)}`));
    }, MARKS_SETTLE_MS).unref();
  }

  async #look(): Promise<void> {
    const due = [...this.#due];
    this.#due.clear();
    const marks = new Map<string, PaneMark>();
    for (const workerId of due) {
      const worker = summaryOf(this.#services, workerId);
      const known = this.#entries.get(keyOf("worker", workerId));
      const need = worker && needOf(worker);
      if (worker !== null) marks.set(String(workerId), markOf(worker, need));
      if (worker?.state === "starting") this.#lookAfterStart(workerId);
      const waits =
        worker !== null && known !== undefined && need === null && isUndecided(known.notice.kind, worker.state);
      if (!waits) await this.#apply("worker", workerId, need, worker);
    }
    if (marks.size > 0) await this.#showMarks(marks);
    if (this.#mailIsDue) await this.#lookAtMail();
  }

  /** Nobody is kept from being told by a tmux that ends or does not answer. */
  async #showMarks(marks: ReadonlyMap<string, PaneMark>): Promise<void> {
    try {
      await this.#services.fleet.tmux.existingServer()?.mark(marks);
    } catch (error) {
      this.#services.log(`marks: ${String(error)}`);
    }
  }

  /** A program that tells nothing of itself starts without an event. */
  #lookAfterStart(workerId: number): void {
    const timer = setTimeout(() => {
      this.#starting.delete(timer);
      this.#lookSoon([workerId]);
    }, START_LOOK_MS).unref();
    this.#starting.add(timer);
  }

  async #lookAtMail(): Promise<void> {
    this.#mailIsDue = false;
    const senders = unreadSenders(this.#services.db, null);
    const unread = new Map(senders.map((each) => [each.workerId, mailNeed(this.#services, each)]));
    const known = [...this.#entries.values()].filter(({ subject }) => subject === "mail");
    for (const workerId of new Set([...unread.keys(), ...known.map((each) => each.workerId)]))
      await this.#apply("mail", workerId, unread.get(workerId) ?? null, summaryOf(this.#services, workerId));
  }

  /** Applies what is needed now: the store knows it before anybody is told. */
  async #apply(subject: Subject, workerId: number, need: Need | null, worker: WorkerSummary | null): Promise<void> {
    const { now, monotonicMs } = this.#services;
    const key = keyOf(subject, workerId);
    const entry = this.#entries.get(key);
    const moment = { wallMs: now(), monotonicMs: monotonicMs() };
    const { notice, wentOn } = afterLook(entry?.notice ?? null, need, moment);
    if (notice === (entry?.notice ?? null)) return this.#schedule(key);
    if (entry?.timer) clearTimeout(entry.timer);
    if (notice === null) this.#entries.delete(key);
    else this.#entries.set(key, { workerId, subject, notice, timer: null });
    await this.#save(subject, workerId, notice);
    if (wentOn !== null && worker !== null) await this.#tellWentOn(workerId, worker);
    return this.#schedule(key);
  }

  async #save(subject: Subject, workerId: number, notice: Notice | null): Promise<void> {
    const { db, writer, now, monotonicMs } = this.#services;
    const projectId = workerById(db, workerId)?.projectId;
    await writer.write(() => {
      if (notice === null || projectId === undefined) return deleteNotice(db, workerId, subject);
      const { kind, reason, sinceMs, isTold, lastToldAtMs } = notice;
      const toldMs = lastToldAtMs === null ? null : Math.round(now() - (monotonicMs() - lastToldAtMs));
      setNotice(db, { projectId, workerId, subject, kind, reason, sinceMs, toldMs, isTold });
    });
  }

  /** Tells now if it is time, or looks again when it is. */
  #schedule(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.timer !== null || entry.notice.isTold) return;
    const moment = { monotonicMs: this.#services.monotonicMs(), minuteOfDay: minuteOfDay(this.#services.now()) };
    const dueMs = dueInMs(entry.notice, this.sender.settings(), { ...moment, isLookedAt: false });
    if (dueMs === null) return;
    entry.timer = setTimeout(() => {
      this.#tellIfDue(key, entry).catch((error: unknown) => this.#services.log(`notices: ${String(error)}`));
    }, dueMs).unref();
  }

  async #tellIfDue(key: string, entry: Entry): Promise<void> {
    const { subject, workerId, notice } = entry;
    const isLookedAt = subject === "worker" && (await this.#isLookedAt(workerId));
    if (this.#entries.get(key) !== entry) return; // it went on, or is needed for something else by now
    entry.timer = null;
    if (isLookedAt) {
      entry.timer = setTimeout(() => {
        entry.timer = null;
        this.#schedule(key);
      }, LOOK_AGAIN_MS).unref();
      return;
    }
    const settings = this.sender.settings();
    const moment = { monotonicMs: this.#services.monotonicMs(), minuteOfDay: minuteOfDay(this.#services.now()) };
    if (dueInMs(notice, settings, { ...moment, isLookedAt: false }) !== 0) return this.#schedule(key);
    const worker = summaryOf(this.#services, workerId);
    if (worker === null) return;
    entry.notice = told(notice, moment.monotonicMs);
    await this.#save(subject, workerId, entry.notice);
    await this.sender.send(noticeOf(worker, notice, notice.sinceMs), this.#subjectOf(workerId), settings);
  }

  async #tellWentOn(workerId: number, worker: WorkerSummary): Promise<void> {
    const settings = this.sender.settings();
    const nowMs = this.#services.now();
    if (quietForMs(settings.quiet, minuteOfDay(nowMs)) > 0) return;
    const sending = this.sender.send(wentOnNotice(worker, nowMs), this.#subjectOf(workerId), settings);
    sending.catch((error: unknown) => this.#services.log(`notices: ${String(error)}`));
  }

  #subjectOf(workerId: number): { projectId: number; workerId: number } | null {
    const projectId = workerById(this.#services.db, workerId)?.projectId;
    return projectId === undefined ? null : { projectId, workerId };
  }

  /** Whether an attached terminal shows the worker's pane to somebody. Nobody is kept from being told by a tmux that does not answer. */
  async #isLookedAt(workerId: number): Promise<boolean> {
    try {
      const { clients = [], panes = [] } = (await this.#services.fleet.tmux.existingServer()?.clients()) ?? {};
      const own = panes.filter((pane) => pane.workerId === String(workerId));
      const since = this.#services.now() - LOOKS_AFTER_KEY_MS;
      return own.some((pane) => clients.some((client) => showsPane(client, pane, since)));
    } catch (error) {
      this.#services.log(`notices: ${String(error)}`);
      return false;
    }
  }
}

function markOf(worker: WorkerSummary, need: Need | null): PaneMark {
  return { state: worker.state, needsSomebody: need !== null, says: wordsBelow(worker, need) };
}

function keyOf(subject: Subject, workerId: number): string {
  return `${subject} ${workerId}`;
}

/** Local time, in which people name their quiet hours. */
function minuteOfDay(ms: number): number {
  const time = new Date(ms);
  return time.getHours() * 60 + time.getMinutes();
}
