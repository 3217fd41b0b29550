import { watch, type FSWatcher } from "node:fs";
import { RUN_POLL_MS, STRANGER_LIST_MS } from "../../limits/index.ts";
import type { Activity, BlockedReason } from "../../protocol/records/conversation.ts";
import type { ProcessInfo } from "../../runtime/process/index.ts";
import { recentProcesses } from "./recent-processes.ts";
import { isErrno } from "../../state/files.ts";
import { runById, type Run } from "../../store/runs.ts";
import { conversationById, conversationOfRun, entriesOfRun, type Conversation } from "../../store/conversations.ts";
import { adapterOf } from "../../vendors/index.ts";
import { Follower } from "./follower.ts";
import { clearHookEvents, readHookEvents } from "./hook-events.ts";
import type { ConversationServices } from "./services.ts";
import { probeConversation } from "./probe.ts";
import { finishProof } from "./proof.ts";
import { applySign, recordPrompt, recordTranscript, type SignOutcome } from "./bindings.ts";

/** Shells and loaders between a wrapper and its agent; beyond them it is nested, and shows nothing of the run's own. */
const WRAPPER_DEPTH = 4;

/** The part of the run life cycle that learns what signs led to. */
export interface SignListener {
  /** A sign of the run's agent has changed, on disk, what is known of its conversation. */
  signed(run: Run, outcome: SignOutcome): Promise<void>;
}

/** Which conversation each run is in. Folders are watched for speed; looking again is what can be relied on. */
export class ConversationTracker {
  readonly #services: ConversationServices;
  readonly #recentProcesses: ReturnType<typeof recentProcesses>;
  readonly #followers = new Map<string, { follower: Follower; folder: string | null }>();
  readonly #folders = new Map<string, FSWatcher>();
  /** Folders that are not there yet. */
  readonly #pendingFolders = new Set<string>();
  /** Last looks that are under way, by session. */
  readonly #finalChecks = new Map<number, Promise<void>>();

  #listener: SignListener | null = null;

  constructor(services: ConversationServices) {
    this.#services = services;
    this.#recentProcesses = recentProcesses(services.processes, STRANGER_LIST_MS, services.monotonicMs);
  }

  /** Has to come before the first run is followed. */
  subscribe(listener: SignListener): void {
    this.#listener = listener;
  }

  /** From its start, or from where the last daemon left off. Does nothing for a run that is in no conversation. */
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
      this.#listener?.signed(signed, outcome);
    this.#followers.set(run.id, {
      follower: new Follower(this.#services, run, adapter, { adopted: adopted, sources, onOutcome }),
      folder,
    });
    if (folder !== null) this.#watch(folder);
  }

  /** Its wrapper was started by another process than the one that claimed. */
  setHolder(run: Run): void {
    this.#followers.get(run.id)?.follower.setHolder(run);
  }

  stop(): void {
    for (const run of this.#followers.keys()) this.#unfollow(run);
  }

  activityOf(run: string): Activity | null {
    return this.#followers.get(run)?.follower.attention.activity ?? null;
  }

  /** What a blocked run waits for; null where that is not known, or where it is not blocked. */
  reasonOf(run: string): BlockedReason | null {
    return this.#followers.get(run)?.follower.attention.reason ?? null;
  }

  /** The title its terminal has now: to be told at every look, not only when it changes. Its own signs count more. */
  onTitle(run: string, title: string): void {
    const follower = this.#followers.get(run)?.follower;
    if (follower?.attention.readsTitles) follower.runExclusive((attention) => attention.onTitle(title));
  }

  /** What is on its screen now: to be told at every look. Counts until it tells something by itself. */
  onScreen(run: string, screenText: string): void {
    this.#followers.get(run)?.follower.runExclusive((attention) => attention.onScreen(screenText));
  }

  /** The runs whose screens may tell what they do not; `seldom`: of all of them, because some get stuck without a word. */
  runsToCapture(seldom: boolean): Set<string> {
    const wanted = [...this.#followers].filter(([, { follower }]) => follower.attention.needsScreen(seldom));
    return new Set(wanted.map(([run]) => run));
  }

  foreignOpenersOf(run: string): readonly number[] {
    return this.#followers.get(run)?.follower.foreignOpeners.pids ?? [];
  }

  foreignConversationOf(run: string): string | null {
    return this.#followers.get(run)?.follower.foreignConversation ?? null;
  }

  agentOf(run: string): ProcessInfo | null {
    return this.#followers.get(run)?.follower.agent ?? null;
  }

  hungMsOf(run: string): number | null {
    return this.#followers.get(run)?.follower.hang.hungMs ?? null;
  }

  /** It has shown that it lives. */
  reportActivity(run: string): void {
    this.#followers.get(run)?.follower.hang.noteActivity();
  }

  /** A hook has left a file in the run's folder. */
  onHookFile(run: string): void {
    this.#followers.get(run)?.follower.onHookFile();
  }

  /**
   * Inside the change that ends the run, or takes its name away: what it said and showed last still counts. `exit` is its
   * code, if it has one.
   */
  applyFinalSigns(run: Run, exit: number | null): void {
    const conversation = conversationOfRun(this.#services.db, run.id);
    const adapter = conversation && adapterOf(conversation.vendor);
    if (!adapter) return;
    // The files stay until the change is on disk: applied twice, they lead to the same place.
    const follower = this.#followers.get(run.id)?.follower;
    // Killed in its first moments it may have been on its way to the right one: only one that did its work was not.
    const unsettled = exit === 0 ? (follower?.unconfirmedSign() ?? null) : null;
    const events = readHookEvents(this.#services.runs.runDir(run.id), adapter).map(({ sign }) => sign);
    const last = [...events, ...(unsettled ? [unsettled] : []), ...(follower?.finalSigns() ?? [])];
    for (const sign of last) {
      applySign(this.#services, run.id, sign);
      recordPrompt(this.#services, run.id, sign);
    }
  }

  /** After the end is on disk: a last look at what the vendor wrote. */
  ended(run: string): void {
    this.#unfollow(run);
    const row = runById(this.#services.db, run);
    const conversation = conversationOfRun(this.#services.db, run);
    if (!row || !conversation) return;
    const settling = this.#finalCheck(row, conversation).finally(() => {
      if (this.#finalChecks.get(conversation.id) === settling) this.#finalChecks.delete(conversation.id);
    });
    this.#finalChecks.set(conversation.id, settling);
  }

  /** When the last look at this conversation is over. */
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

  async #finalCheck(run: Run, conversation: Conversation): Promise<void> {
    try {
      clearHookEvents(this.#services.runs.runDir(run.id));
      const transcript = await probeConversation(this.#services, conversation);
      const ended = runById(this.#services.db, run.id);
      if (ended) await this.#services.writer.write(() => finishProof(this.#services, ended, transcript));
      for (const { conversationId: each } of entriesOfRun(this.#services.db, run.id)) await this.#updateCopy(each);
    } catch (error) {
      this.#services.log(`could not settle the conversation of ${run.id}: ${String(error)}`);
    }
  }

  /** One that the run left before anybody looked for its transcript is looked for now. */
  async #updateCopy(conversationId: number): Promise<void> {
    const conversation = conversationById(this.#services.db, conversationId);
    if (!conversation) return;
    const found = conversation.transcript === null ? await probeConversation(this.#services, conversation) : null;
    if (found?.state === "good") {
      await this.#services.writer.write(() => recordTranscript(this.#services, conversation, found));
    }
    await this.#services.custody.updateCopy(conversationId);
  }

  /** One watch for all runs of a vendor's folder. It may not be there before the vendor's first start. */
  #watch(folder: string): void {
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
      this.#watchLater(folder);
    }
  }

  /** A file that is named after a process concerns one of them; another one, all of them. */
  #onFolderChange(folder: string, file: string | null): void {
    const here = [...this.#followers.values()].filter((each) => each.folder === folder).map(({ follower }) => follower);
    const pid = Number(/^(\d+)\.json/.exec(file ?? "")?.[1] ?? Number.NaN);
    const own = here.find(({ agent }) => agent?.pid === pid) ?? this.#followerOfChild(here, pid);
    if (own) return own.pollSoon();
    const named = !Number.isNaN(pid);
    this.#recentProcesses.forget();
    for (const follower of here) {
      if (named && follower.agent !== null) follower.recheckForeignOpeners();
      else follower.pollSoon();
    }
  }

  /** Whose wrapper, or what that started, has started it: a first sign. */
  #followerOfChild(here: Follower[], pid: number): Follower | undefined {
    let info = Number.isNaN(pid) ? null : this.#services.processes.inspect(pid);
    for (let depth = 0; info !== null && depth < WRAPPER_DEPTH; depth++) {
      const { parentPid } = info;
      const found = here.find(({ wrapperPid }) => wrapperPid === parentPid);
      if (found) return found.agent === null ? found : undefined;
      info = this.#services.processes.inspect(parentPid);
    }
    return undefined;
  }

  #watchLater(folder: string): void {
    if (this.#pendingFolders.has(folder)) return;
    this.#pendingFolders.add(folder);
    setTimeout(() => {
      this.#pendingFolders.delete(folder);
      if (this.#hasFollowers(folder)) this.#watch(folder);
    }, RUN_POLL_MS).unref();
  }
}
