import { watch, type FSWatcher } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Attention } from "../../../core/attention.ts";
import { isOpen } from "../../../core/proof.ts";
import { END_COPY_WAIT_MS, RUN_POLL_MS, PROCESS_LIST_CACHE_MS, WRAPPER_DEPTH_MAX } from "../../../limits/index.ts";
import type { Activity, BlockedReason, Transcript } from "../../../protocol/records/conversation.ts";
import type { ProcessInfo } from "../../../runtime/process/index.ts";
import { recentProcesses } from "./recent-processes.ts";
import { isErrno } from "../../../state/files.ts";
import { runById, type Run } from "../../../store/runs.ts";
import { workerById, type Worker } from "../../../store/workers.ts";
import { conversationById, conversationOfRun, entriesOfRun, type Conversation } from "../../../store/conversations.ts";
import { adapterOf } from "../../../vendors/index.ts";
import { Follower } from "./follower.ts";
import { clearHookEvents, readHookEvents } from "../signs/hook-events.ts";
import type { ConversationServices } from "../services.ts";
import { isOpenElsewhere, probeConversation } from "../probe/probe.ts";
import { finishProof, isHeadless, wasInterrupted, type EndFacts } from "../proof/proof.ts";
import { recordRefusedStart } from "../binding/refused-start.ts";
import { countsAtEnd } from "../signs/told-moves.ts";
import { recordDoubt } from "../signs/lost-events.ts";
import { SignJournal } from "../signs/unwritten-signs.ts";
import { clearVerdictWait, judgeEnd, leaveVerdict } from "../proof/verdict.ts";
import { applySign, recordDetails, recordTranscript, type SignOutcome } from "../binding/bindings.ts";

/** Listens to what the signs of runs led to. The listener is the daemon's RunLifecycle. */
export interface RunSignListener {
  /** A sign of the run's agent has changed, on disk, what is known of its conversation. */
  signed(run: Run, outcome: SignOutcome): Promise<void>;
}

/** Knows which conversation each run is in. Folders are watched for speed; polling is what it relies on. */
export class ConversationTracker {
  readonly #services: ConversationServices;
  readonly #recentProcesses: ReturnType<typeof recentProcesses>;
  readonly #followers = new Map<string, { follower: Follower; folder: string | null }>();
  readonly #folders = new Map<string, FSWatcher>();
  /** Folders to watch that do not exist yet. */
  readonly #pendingFolders = new Set<string>();
  /** Final checks in progress, by conversation. */
  readonly #finalChecks = new Map<number, Promise<void>>();
  /** The transcripts that were found when headless runs were judged, until their final check. */
  readonly #judged = new Map<string, Promise<Transcript | null>>();
  readonly #journal: SignJournal;

  #listener: RunSignListener | null = null;

  constructor(services: ConversationServices) {
    this.#services = services;
    this.#journal = new SignJournal(services);
    this.#recentProcesses = recentProcesses(services.processes, PROCESS_LIST_CACHE_MS, services.monotonicMs);
  }

  /** Sets the listener; has to be called before the first run is followed. */
  subscribe(listener: RunSignListener): void {
    this.#listener = listener;
  }

  get #lifecycle(): RunSignListener {
    if (this.#listener === null) throw new Error("nobody has subscribed to the signs of runs");
    return this.#listener;
  }

  /** Follows the run's conversation; does nothing for a run without one. `adopted`: an earlier daemon saw the run begin. */
  follow(run: Run, adopted = false): void {
    const conversation = conversationOfRun(this.#services.db, run.id);
    const adapter = conversation && adapterOf(conversation.vendor);
    if (!adapter || this.#followers.has(run.id)) return;
    const folder = adapter.liveness.watchDir(conversation.configDir);
    const sources = {
      isWatched: () => folder !== null && this.#folders.has(folder),
      recentProcesses: this.#recentProcesses,
    };
    const onOutcome = async (signed: Run, outcome: SignOutcome): Promise<void> =>
      this.#lifecycle.signed(signed, outcome);
    this.#followers.set(run.id, {
      follower: new Follower(this.#services, run, adapter, { adopted, sources, journal: this.#journal, onOutcome }),
      folder,
    });
    if (folder !== null) this.#watch(folder);
    if (adopted) leaveVerdict(this.#services, run, false);
  }

  /** Judges a headless run whose program has ended, while its wrapper waits for the verdict. */
  exited(id: string): void {
    const follower = this.#followers.get(id)?.follower;
    const run = runById(this.#services.db, id);
    const worker = run && workerById(this.#services.db, run.workerId);
    if (!follower || !worker || !isHeadless(worker, run) || run.pane !== null || this.#judged.has(id)) return;
    const judged = follower
      .hooksRead()
      .then(() =>
        judgeEnd(
          this.#services,
          run,
          (exit) => this.applyFinalSigns(run, exit),
          async (conversation) =>
            follower.foreignOpeners.hadForeignOpener || (await isOpenElsewhere(this.#services, conversation, run.pid)),
        ),
      )
      .catch((error: unknown) => {
        this.#services.log(`the end of ${id} could not be judged: ${String(error)}`);
        return null;
      })
      .finally(() => leaveVerdict(this.#services, run, true));
    this.#judged.set(id, judged);
  }

  /** Resolves when a headless run whose program has ended is judged, so that the verdict is on record. */
  async judged(run: string): Promise<void> {
    await this.#judged.get(run);
  }

  /** Tells the wrapper of a headless run what a sign has shown. */
  leaveVerdict(run: Run): void {
    leaveVerdict(this.#services, run, false);
  }

  /** Records that a pane's wrapper holds the name now, not the process that claimed. */
  setHolder(run: Run): void {
    this.#followers.get(run.id)?.follower.setHolder(run);
  }

  stop(): void {
    for (const run of this.#followers.keys()) this.#unfollow(run);
  }

  activityOf(run: string): Activity | null {
    return this.#followers.get(run)?.follower.attention.activity ?? null;
  }

  /** Returns what a blocked run waits for; null where that is not known, or the run is not blocked. */
  reasonOf(run: string): BlockedReason | null {
    return this.#followers.get(run)?.follower.attention.reason ?? null;
  }

  /** Returns the program's own words that it no longer records the run's conversation; null as long as nobody knows that. */
  unrecordedOf(run: string): string | null {
    return this.#followers.get(run)?.follower.attention.unrecorded ?? null;
  }

  /** Returns the program's own words for what blocks the run; null where it has none. */
  wordsOf(run: string): string | null {
    return this.#followers.get(run)?.follower.attention.words ?? null;
  }

  /** Returns the beginning of what was said last in the run's conversation, fit to be shown; null where nobody has told it. */
  lastWordsOf(run: string, worker: Worker): string | null {
    const { lastWords } = this.#followers.get(run)?.follower.attention ?? {};
    return lastWords?.shown(() => this.#services.environments.of(worker)) ?? null;
  }

  /** Returns what was known of the run's agent when the run ended; null for a run that nobody follows. */
  lastAttentionOf(run: string): Attention | null {
    return this.#followers.get(run)?.follower.lastAttention() ?? null;
  }

  /** Applies the current title of the run's terminal; called at every poll, not only on a change. */
  onTitle(run: string, title: string): void {
    const follower = this.#followers.get(run)?.follower;
    if (follower?.attention.readsTitles) follower.runExclusive((attention) => attention.onTitle(title));
  }

  /** Applies the current screen of the run; called at every poll. The agent's own signs outrank it. */
  onScreen(run: string, screenText: string): void {
    this.#followers.get(run)?.follower.runExclusive((attention) => attention.onScreen(screenText));
  }

  /** Returns the runs of whose attention this holds: that their screen, or their title, is to be read. */
  runsWhere(holds: (attention: Follower["attention"]) => boolean): Set<string> {
    const followed = [...this.#followers].filter(([, { follower }]) => holds(follower.attention));
    return new Set(followed.map(([run]) => run));
  }

  /** Returns the conversation that the run's agent has moved to, where a full disk did not take that yet; else null. */
  unwrittenMoveOf(run: string): string | null {
    const session = this.#followers.get(run)?.follower.unwritten.session ?? null;
    return session === conversationOfRun(this.#services.db, run)?.vendorId ? null : session;
  }

  /** Tells whether a hook of the run could not write what it told, so that nobody knows which conversation its agent is in. */
  isDoubtful(run: string): boolean {
    return this.#followers.get(run)?.follower.lostEvents.isDoubtful ?? false;
  }

  foreignOpenersOf(run: string): readonly number[] {
    return this.#followers.get(run)?.follower.foreignOpeners.pids ?? [];
  }

  foreignConversationOf(run: string): string | null {
    return this.#followers.get(run)?.follower.foreignConversation.session ?? null;
  }

  agentOf(run: string): ProcessInfo | null {
    return this.#followers.get(run)?.follower.agent ?? null;
  }

  /** Returns the process of the run's agent, and looks for it if it was not seen yet; null where there is none. */
  findAgent(run: string): ProcessInfo | null {
    return this.#followers.get(run)?.follower.findAgent() ?? null;
  }

  /** Returns the transcript of the run's conversation; null while it is not known. */
  transcriptOf(run: string): string | null {
    return (
      this.#followers.get(run)?.follower.transcriptFile ?? conversationOfRun(this.#services.db, run)?.transcript ?? null
    );
  }

  hungMsOf(run: string): number | null {
    return this.#followers.get(run)?.follower.hang.hungMs ?? null;
  }

  /** Notes a sign of life of the run, for the hang detector. */
  reportActivity(run: string): void {
    this.#followers.get(run)?.follower.hang.noteActivity();
  }

  /** Makes the run's follower read the file that a hook has written. */
  onHookFile(run: string): void {
    this.#followers.get(run)?.follower.onHookFile();
  }

  /**
   * Applies the run's last signs inside the change that ends the run or takes its name away. `exit` is the run's exit code,
   * if it has one.
   */
  applyFinalSigns(run: Run, exit: number | null): void {
    const conversation = conversationOfRun(this.#services.db, run.id);
    const adapter = conversation && adapterOf(conversation.vendor);
    if (!adapter) return;
    // The hook files stay until the change is on disk; applying them twice leads to the same result.
    const follower = this.#followers.get(run.id)?.follower;
    follower?.unwritten.applyWaiting();
    // An agent that was killed early may have been about to open the right conversation; one that succeeded was not.
    const unsettled = exit === 0 ? (follower?.unconfirmed.atEnd ?? null) : null;
    const events = readHookEvents(this.#services.runs.runDir(run.id), adapter).map(({ sign }) => sign);
    for (const sign of events) follower?.prompts.onSign(sign, this.#services.monotonicMs());
    const shownLast = follower?.finalSigns() ?? [];
    const last = [...events, ...(unsettled ? [unsettled] : []), ...shownLast];
    for (const shown of last) {
      const sign = follower?.attributed(shown) ?? shown;
      if (events.includes(shown) && !countsAtEnd(this.#services, run.id, sign, shownLast)) continue;
      applySign(this.#services, run.id, sign);
      recordDetails(this.#services, run.id, sign);
    }
    if (follower?.lostEvents.isDoubtful && !last.some(isOpen)) recordDoubt(this.#services, run.id);
  }

  /** Stops following a run whose end is on disk, and checks a last time what the vendor wrote. */
  ended(run: string): void {
    const { prompts, foreignOpeners, unwritten, lostEvents } = this.#followers.get(run)?.follower ?? {};
    // What was written to the conversation before its agent may have left it proves nothing about its end either.
    const hadForeignOpener = foreignOpeners?.hadForeignOpener || lostEvents?.isDoubtful || false;
    this.#unfollow(run);
    unwritten?.forget();
    const row = runById(this.#services.db, run);
    const conversation = conversationOfRun(this.#services.db, run);
    if (!row || !conversation) return;
    const mustBeWritten = prompts?.mustBeWritten(conversation.vendorId, this.#services.monotonicMs()) ?? false;
    const settling = this.#finalCheck(row, conversation, { mustBeWritten, hadForeignOpener }).finally(() => {
      if (this.#finalChecks.get(conversation.id) === settling) this.#finalChecks.delete(conversation.id);
    });
    this.#finalChecks.set(conversation.id, settling);
  }

  /**
   * Reads the last hooks of a run whose processes are gone, and copies its transcript, before its end is published: whoever waits for
   * the end may delete the transcript at once. A copy that takes long does not delay the end.
   */
  async copyBeforeEnd(run: Run): Promise<void> {
    const waiting = new AbortController();
    const tooLong = sleep(END_COPY_WAIT_MS, undefined, { signal: waiting.signal, ref: false });
    await Promise.race([this.#copyNow(run), tooLong]);
    tooLong.catch(() => undefined);
    waiting.abort();
  }

  async #copyNow(run: Run): Promise<void> {
    await this.#followers.get(run.id)?.follower.hooksRead();
    const conversation = conversationOfRun(this.#services.db, run.id);
    if (conversation?.transcript == null || adapterOf(conversation.vendor)?.storage.slowProbe) return;
    await this.#services.custody.updateCopy(conversation.id, { search: true });
  }

  /** Resolves when no final check of the conversation is in progress. */
  async finalCheckDone(conversationId: number): Promise<void> {
    await this.#finalChecks.get(conversationId);
  }

  #unfollow(run: string): void {
    const followed = this.#followers.get(run);
    if (!followed) return;
    followed.follower.stop();
    this.#followers.delete(run);
    if (followed.folder === null || this.#hasFollowers(followed.folder)) return;
    this.#folders.get(followed.folder)?.close();
    this.#folders.delete(followed.folder);
  }

  #hasFollowers(folder: string): boolean {
    return [...this.#followers.values()].some((each) => each.folder === folder);
  }

  async #finalCheck(
    run: Run,
    conversation: Conversation,
    { mustBeWritten, hadForeignOpener: seen }: Pick<EndFacts, "mustBeWritten" | "hadForeignOpener">,
  ): Promise<void> {
    try {
      // Nobody of the run is left: whoever has the conversation open now may have written to it, too.
      const hadForeignOpener = seen || (await isOpenElsewhere(this.#services, conversation, run.pid));
      clearHookEvents(this.#services.runs.runDir(run.id));
      const judged = await this.#judged.get(run.id);
      this.#judged.delete(run.id);
      clearVerdictWait(this.#services.runs.runDir(run.id));
      const transcript = judged ?? (await probeConversation(this.#services, conversation));
      const ended = runById(this.#services.db, run.id);
      if (ended) {
        const interrupted = wasInterrupted(this.#services, ended);
        const facts = { exit: ended.exit, interrupted, mustBeWritten, hadForeignOpener };
        await this.#services.writer.write(() => finishProof(this.#services, ended, transcript, facts));
      }
      const isSupervised = run.pane !== null;
      if (ended && !isSupervised) await recordRefusedStart(this.#services, ended, null);
      for (const { conversationId: each } of entriesOfRun(this.#services.db, run.id)) await this.#updateCopy(each);
    } catch (error) {
      this.#services.log(`the final check of the conversation of ${run.id} failed: ${String(error)}`);
    }
  }

  /** Updates the copy of a conversation; finds its transcript first if the run left it before that was done. */
  async #updateCopy(conversationId: number): Promise<void> {
    const conversation = conversationById(this.#services.db, conversationId);
    if (!conversation) return;
    const found = conversation.transcript === null ? await probeConversation(this.#services, conversation) : null;
    if (found?.state === "good") {
      await this.#services.writer.write(() => recordTranscript(this.#services, conversation, found));
    }
    await this.#services.custody.updateCopy(conversationId, { final: true });
  }

  /** Watches a vendor's folder once for all its runs. The folder may not exist before the vendor's first start. */
  #watch(folder: string, againInMs = RUN_POLL_MS / 20): void {
    if (this.#folders.has(folder)) return;
    try {
      const watcher = watch(folder, (_event, file) => this.#onFolderChange(folder, file));
      watcher.unref().on("error", (error) => {
        this.#services.log(`cannot watch ${folder}: ${error.message}`);
        this.#folders.delete(folder);
      });
      this.#folders.set(folder, watcher);
    } catch (error) {
      if (!isErrno(error, "ENOENT")) return this.#services.log(`cannot watch ${folder}: ${String(error)}`);
      this.#watchLater(folder, againInMs);
    }
  }

  /** Polls the run that a file named after its process concerns; any other file concerns all runs of the folder. */
  #onFolderChange(folder: string, file: string | null): void {
    const followers = [...this.#followers.values()]
      .filter((each) => each.folder === folder)
      .map(({ follower }) => follower);
    const pid = Number(/^(\d+)\.json/.exec(file ?? "")?.[1] ?? Number.NaN);
    const own = followers.find(({ agent }) => agent?.pid === pid) ?? this.#followerOfChild(followers, pid);
    if (own) return own.pollSoon();
    const named = !Number.isNaN(pid);
    this.#recentProcesses.forget();
    for (const follower of followers) {
      if (named && follower.agent !== null) follower.recheckForeignOpeners();
      else follower.pollSoon();
    }
  }

  /** Returns the follower whose wrapper started the process, directly or through loaders, if its agent is not known yet. */
  #followerOfChild(followers: Follower[], pid: number): Follower | undefined {
    let info = Number.isNaN(pid) ? null : this.#services.processes.inspect(pid);
    for (let depth = 0; info !== null && depth < WRAPPER_DEPTH_MAX; depth++) {
      const { parentPid } = info;
      const found = followers.find(({ wrapperPid }) => wrapperPid === parentPid);
      if (found) return found.agent === null ? found : undefined;
      info = this.#services.processes.inspect(parentPid);
    }
    return undefined;
  }

  /** Tries again soon, because the first program to start makes the folder; what that one has written in it by then shows in a poll. */
  #watchLater(folder: string, ms: number): void {
    if (this.#pendingFolders.has(folder)) return;
    this.#pendingFolders.add(folder);
    setTimeout(() => {
      this.#pendingFolders.delete(folder);
      if (!this.#hasFollowers(folder)) return;
      this.#watch(folder, Math.min(ms * 1.1, RUN_POLL_MS));
      if (this.#folders.has(folder)) this.#onFolderChange(folder, null);
    }, ms).unref();
  }
}
