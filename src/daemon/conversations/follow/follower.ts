import { rmSync } from "node:fs";
import { join } from "node:path";
import {
  POLLS_UNTIL_IDLE,
  POLL_ALIGN_MS,
  PROOF_POLL_MS,
  IDLE_POLL_MS,
  RUN_POLL_MS,
  SIGN_SETTLE_MS,
} from "../../../limits/index.ts";
import { isOpen, type OpenSign } from "../../../core/proof.ts";
import type { Attention } from "../../../core/attention.ts";
import { movedTo } from "../../../core/rotation.ts";
import type { Outward, Sign } from "../../../protocol/records/conversation.ts";
import type { ProcessInfo } from "../../../runtime/process/index.ts";
import type { Run } from "../../../store/runs.ts";
import { lastEntryOfRun, conversationOfRun, type Conversation } from "../../../store/conversations.ts";
import type { Adapter } from "../../../vendors/index.ts";
import { AgentProcessWatch, type SignSources } from "../signs/agent-process.ts";
import { OwnProcess } from "../signs/own-process.ts";
import { AttentionWatch } from "../attention/attention.ts";
import { readHookEvents, readHookFiles } from "../signs/hook-events.ts";
import { isOfOtherNamespace } from "../../runs/elsewhere.ts";
import type { ConversationServices } from "../services.ts";
import { isHeadlessRun, proveByTranscript } from "../proof/proof.ts";
import { strayPlaceOf, tellsDetails, type SignOutcome } from "../binding/bindings.ts";
import { HangDetector } from "../attention/hang-detector.ts";
import { ForeignConversation } from "../attention/foreign-conversation.ts";
import { ForeignOpeners } from "../attention/foreign-openers.ts";
import { PromptWatch } from "../signs/prompt-watch.ts";
import { LostEvents } from "../signs/lost-events.ts";
import { ToldMoves } from "../signs/told-moves.ts";
import { UnconfirmedSign } from "../signs/unconfirmed-sign.ts";
import { unlessDiskFull, UnwrittenSigns, type SignJournal } from "../signs/unwritten-signs.ts";
import { TranscriptWatch } from "./transcript.ts";
import { WrittenTurns } from "../signs/written-turns.ts";

interface FollowOptions {
  adopted: boolean;
  sources: SignSources;
  /** Keeps the signs that a full disk does not take. */
  journal: SignJournal;
  /** Called with what a sign of the run led to, once it is on disk. */
  onOutcome: (run: Run, outcome: SignOutcome) => Promise<void>;
}

/** Follows the conversation of one run: proves that the run is in the right one, then tracks its rotations. */
export class Follower {
  readonly #services: ConversationServices;
  #run: Run;
  readonly #adapter: Adapter;
  readonly #adopted: boolean;
  readonly #isWatched: () => boolean;
  readonly #onOutcome: FollowOptions["onOutcome"];
  readonly #transcript: TranscriptWatch;
  /** The conversations that the process had open at the last poll; null before the first sign of one. */
  #shownSessions: ReadonlySet<string> | null = null;
  readonly #agent: AgentProcessWatch;
  readonly #ownProcess: OwnProcess;
  readonly #toldMoves: ToldMoves;
  /** The poll interval, which grows until the first sign, up to the usual one. */
  #waitMs = PROOF_POLL_MS;
  #timer: NodeJS.Timeout | null = null;
  /** The last step; steps run one at a time, because two at once would report the same change twice, or out of order. */
  #lastStep: Promise<void> = Promise.resolve();
  #stopped = false;
  /** Consecutive polls at which the agent waited for somebody and its next activity would be noticed without a poll. */
  #calmPolls = 0;
  /** The monotonic time of the last poll. */
  #polledMs = 0;
  readonly #stopListening: (() => void) | null;
  readonly #writtenTurns: WrittenTurns | null;
  /** The conversation that the attention is about. */
  #session: string;

  readonly unwritten: UnwrittenSigns;
  readonly unconfirmed: UnconfirmedSign;
  readonly lostEvents = new LostEvents();
  readonly attention: AttentionWatch;
  readonly foreignOpeners: ForeignOpeners;
  readonly hang: HangDetector;
  readonly prompts = new PromptWatch();
  readonly foreignConversation: ForeignConversation;

  /** `adopted`: the run was found alive by a daemon that did not see it begin. */
  constructor(
    services: ConversationServices,
    run: Run,
    adapter: Adapter,
    { adopted, sources, journal, onOutcome }: FollowOptions,
  ) {
    this.#onOutcome = onOutcome;
    this.#services = services;
    this.#isWatched = sources.isWatched;
    this.#run = run;
    this.#adapter = adapter;
    this.#adopted = adopted;
    this.#transcript = new TranscriptWatch(services);
    this.#agent = new AgentProcessWatch(services, adapter);
    this.#ownProcess = new OwnProcess(services.processes);
    this.#toldMoves = new ToldMoves(services, run.id);
    this.foreignOpeners = new ForeignOpeners(services, adapter, sources.recentProcesses);
    this.hang = new HangDetector(services);
    this.unwritten = new UnwrittenSigns(services, journal, run);
    this.unconfirmed = new UnconfirmedSign(services, run, adopted);
    const runDir = services.runs.runDir(run.id);
    this.foreignConversation = new ForeignConversation(join(runDir, "elsewhere"), services.now, (session) =>
      onOutcome(this.#run, session === null ? "known" : "foreign"),
    );
    this.attention = new AttentionWatch(services, run, adapter, runDir, adopted);
    if (adopted) this.lostEvents.noteAll(readHookFiles(runDir, adapter));
    const { readTurn } = adapter.liveness;
    this.#writtenTurns = readTurn === undefined ? null : new WrittenTurns(readTurn, run.startedMs);
    const context = { runDir, session: this.#conversation()?.vendorId ?? "" };
    this.#session = context.session;
    const onActivity = (outward: Outward): void => this.#onListenedActivity(outward);
    this.#stopListening = adapter.liveness.listen?.(context, (sign) => this.#onListenedSign(sign), onActivity) ?? null;
    this.#pollIn(this.#waitMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#stopListening?.();
    if (this.#timer) clearTimeout(this.#timer);
  }

  /** Records that another process holds the name for the run. */
  setHolder(run: Run): void {
    this.#run = run;
    // Signs were searched for under another process until now; most agents have yet to start, and the watch will report it.
    this.#waitMs = RUN_POLL_MS / 2;
    this.#pollIn(this.#isWatched() ? this.#waitMs : PROOF_POLL_MS);
  }

  /** Updates the attention with what the terminal shows, in turn with the agent's own signs. */
  runExclusive(update: (attention: AttentionWatch) => Promise<void>): void {
    void this.#step(() => update(this.attention));
  }

  /** Polls soon, because something changed in the folder with the signs of the vendor's processes. */
  pollSoon(): void {
    this.#calmPolls = 0;
    this.#transcript.noteActivity();
    this.#pollIn(SIGN_SETTLE_MS);
  }

  /** Checks for foreign openers soon, because a process has appeared that is not the run's own. */
  recheckForeignOpeners(): void {
    this.foreignOpeners.checkNow();
    if (this.#calmPolls >= POLLS_UNTIL_IDLE) this.#pollIn(RUN_POLL_MS);
    this.#calmPolls = 0;
  }

  /** The transcript of the conversation, as far as it is known. */
  get transcriptFile(): string | null {
    const conversation = this.#conversation();
    return conversation && this.#transcript.fileOf(conversation);
  }

  get agent(): ProcessInfo | null {
    return this.#agent.found;
  }

  /** Returns the agent's process, and looks for it first if only its hooks were heard so far. */
  findAgent(): ProcessInfo | null {
    if (this.#agent.found === null) this.#signs();
    return this.#agent.found;
  }

  /** The pid of the wrapper; null where it is one of another pid namespace. */
  get wrapperPid(): number | null {
    return isOfOtherNamespace(this.#services.processes, this.#run) ? null : this.#run.pid;
  }

  /** Reads the file that a hook has written to the run's folder. */
  onHookFile(): void {
    this.#calmPolls = 0;
    this.hang.noteActivity();
    void this.#step(() => this.#readHookFiles());
  }

  /** Resolves when everything that hooks have told so far is on disk. */
  hooksRead(): Promise<void> {
    return this.#step(() => this.#readHookFiles());
  }

  #onListenedSign(sign: Sign): void {
    this.hang.noteActivity();
    this.prompts.onSign(sign, this.#services.monotonicMs());
    void this.#step(() => this.#apply(sign));
  }

  #onListenedActivity(outward: Outward): void {
    this.hang.noteActivity();
    void this.#step(() => this.attention.onActivity(outward));
  }

  #pollIn(ms: number): void {
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#stopped) return;
    const mayWait = (): boolean => this.#calmPolls >= POLLS_UNTIL_IDLE && this.#writtenTurns === null;
    const next = (): void => this.#pollIn(mayWait() ? IDLE_POLL_MS : this.#waitMs);
    this.#timer = setTimeout(
      () => void this.#step(async () => (this.#mayRest() ? undefined : this.#poll())).finally(next),
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

  /** Tells whether a poll can be left out: only the transcript would show a calm agent's next turn, and it is unchanged. */
  #mayRest(): boolean {
    if (this.#writtenTurns === null || this.#calmPolls < POLLS_UNTIL_IDLE) return false;
    if (this.#services.monotonicMs() - this.#polledMs >= IDLE_POLL_MS) return false;
    const transcript = this.transcriptFile;
    return transcript !== null && this.#writtenTurns.isUnchanged(transcript);
  }

  async #poll(): Promise<void> {
    this.#polledMs = this.#services.monotonicMs();
    const shown = this.#signs();
    const signs = shown.filter(isOpen);
    this.#waitMs = signs.length > 0 ? RUN_POLL_MS : Math.min(this.#waitMs * this.#backoff(), RUN_POLL_MS);
    await this.#tellOutcomes(await this.unwritten.apply(null));
    await this.#readHookFiles();
    const current = this.#currentSession();
    const currentSign = signs.find(({ session }) => session === current);
    const moved = movedTo(current, this.#shownSessions, signs);
    // What a process does it shows by an echo, too: that proves no more than that the process is there.
    for (const echo of shown.filter((sign) => !isOpen(sign))) {
      if (this.#isStray(echo)) await this.#apply(echo);
      else await this.attention.onSign(echo);
    }
    if (currentSign) {
      this.unconfirmed.clear();
      this.lostEvents.settle();
      await this.foreignConversation.onShown(signs.map(({ session }) => session));
      await this.#apply(currentSign);
    }
    if (moved && this.#adopted) await proveByTranscript(this.#services, this.#run, this.foreignOpeners);
    if (moved && (currentSign || !this.unconfirmed.awaitsConfirmation(moved))) {
      if (moved.session !== this.foreignConversation.session) await this.#apply(moved);
      this.#shownSessions = new Set(signs.map(({ session }) => session));
    } else if (currentSign) {
      this.#shownSessions = new Set(signs.map(({ session }) => session));
    }
    await unlessDiskFull(() => this.#pollTranscript(null));
    const conversation = this.#conversation();
    await unlessDiskFull(() => this.foreignOpeners.poll(this.#run, conversation, this.#agent.found));
    const transcript = conversation && this.#transcript.fileOf(conversation);
    await this.#pollActivity(transcript, currentSign !== undefined);
    await this.hang.poll(this.#run, this.attention.activity === "busy", shown, transcript);
    const settled =
      currentSign !== undefined &&
      !this.unconfirmed.isSeen &&
      this.foreignConversation.session === null &&
      !this.foreignOpeners.hasSuspects;
    const calm = settled && this.attention.isWaiting && this.#isWatched();
    this.#calmPolls = calm ? this.#calmPolls + 1 : 0;
  }

  /** Updates the attention of an agent that writes its turns down and shows no more than its presence. */
  async #pollActivity(transcript: string | null, present: boolean): Promise<void> {
    await this.#noteMove();
    for (const outward of this.#writtenTurns?.poll(transcript) ?? []) await this.attention.onWritten(outward);
    this.attention.lastWords.note(this.#writtenTurns?.takeSaid());
    await this.foreignConversation.onOwnTurn(this.#writtenTurns?.lastAtMs ?? 0);
    // A process that has its conversation open and has begun no turn of it waits for its user.
    const rests = this.#writtenTurns !== null && present && !this.#adopted && this.attention.activity === null;
    if (rests && !isHeadlessRun(this.#services, this.#run)) await this.attention.onActivity({ activity: "idle" });
  }

  async #noteMove(activity?: Sign["activity"]): Promise<void> {
    const session = this.#conversation()?.vendorId ?? this.#session;
    if (session === this.#session) return;
    this.#session = session;
    await this.attention.onMove(this.#writtenTurns !== null && activity !== "busy");
  }

  /** Returns what was known of the agent when its run ended, by its last hooks and its last turn on disk, too. */
  lastAttention(): Attention {
    const transcript = this.transcriptFile;
    const told = readHookEvents(this.#services.runs.runDir(this.#run.id), this.#adapter).map(({ sign }) => sign);
    return this.attention.after([...told, ...(this.#writtenTurns?.poll(transcript) ?? [])]);
  }

  /** Where a watch reports the first sign, polling backs off faster: fifty agents that start together need the processor. */
  #backoff(): number {
    return this.#isWatched() ? 3 : 1.1;
  }

  /** Returns the signs of what the process has open, or had when it was killed, as far as it shows or left any. */
  finalSigns(): OpenSign[] {
    const conversation = this.#conversation();
    if (!conversation) return [];
    const live = this.#signs();
    const signs = (live.length > 0 ? live : this.#agent.leftovers(conversation)).filter(isOpen);
    const current = this.#currentSession();
    const currentSign = signs.find((sign) => sign.session === current);
    const moved = movedTo(current, this.#shownSessions, signs);
    const known = lastEntryOfRun(this.#services.db, this.#run.id)?.proved === "true" || currentSign !== undefined;
    return [...(currentSign ? [currentSign] : []), ...(moved && known ? [moved] : [])];
  }

  #conversation(): Conversation | null {
    return conversationOfRun(this.#services.db, this.#run.id);
  }

  /** The id of the conversation that the run is in, as far as that is known: a full disk may not have taken it yet. */
  #currentSession(): string | undefined {
    return this.unwritten.session ?? this.#conversation()?.vendorId;
  }

  #signs(): Sign[] {
    const conversation = this.#conversation();
    // Until the pane exists the daemon itself holds the name, and its own child processes are not the agent.
    return conversation && this.#run.pid !== process.pid ? this.#agent.signs(this.#run, conversation) : [];
  }

  async #readHookFiles(): Promise<void> {
    const folder = this.#services.runs.runDir(this.#run.id);
    for (const { sign, file } of readHookFiles(folder, this.#adapter)) {
      if (sign === null) {
        if (this.lostEvents.note(file)) this.#pollIn(SIGN_SETTLE_MS);
        continue;
      }
      const verdict = await this.#toldMoves.judge(file, this.attributed(sign), () => this.#signs());
      if (verdict === "wait") continue;
      if (verdict === "apply") this.prompts.onSign(sign, this.#services.monotonicMs());
      if (verdict === "apply") await this.#apply(sign);
      if (verdict === "apply" && isOpen(sign)) this.lostEvents.settle();
      rmSync(file, { force: true });
    }
  }

  async #apply(shown: Sign): Promise<void> {
    const sign = this.attributed(this.#ownProcess.placed(shown));
    if (sign.stays && this.#currentSession() !== sign.session) return;
    if (sign.activity && sign.activity !== this.attention.activity) this.#transcript.noteActivity();
    await this.attention.onSign(sign);
    if (this.#tellsAnything(sign)) await this.#tellOutcomes(await this.unwritten.apply(sign));
    if (sign.activity === "busy" && this.#isOwn(sign)) await this.foreignConversation.leave();
    if (this.#isOwn(sign)) this.attention.lastWords.note(sign.said);
    await this.#noteMove(sign.activity);
    if (sign.writes !== undefined && this.#isOwn(sign)) this.#transcript.setWrittenFile(sign.session, sign.writes);
    const { transcript } = sign;
    if (transcript !== undefined && this.#isOwn(sign)) await unlessDiskFull(() => this.#pollTranscript(transcript));
  }

  /** Nine of ten signs add nothing, and cost no commit. */
  #tellsAnything(sign: Sign): boolean {
    const conversation = this.#conversation();
    if (lastEntryOfRun(this.#services.db, this.#run.id)?.proved !== "true") return true;
    if (this.unwritten.signs.length > 0 || conversation?.vendorId !== sign.session || this.#isStray(sign)) return true;
    return tellsDetails(conversation, sign);
  }

  async #tellOutcomes(applied: Awaited<ReturnType<UnwrittenSigns["apply"]>>): Promise<void> {
    for (const { sign, outcome } of applied ?? []) {
      if (outcome === "foreign") await this.foreignConversation.enter(sign.session);
      else await this.#onOutcome(this.#run, outcome);
      if (outcome === "rotated") await this.foreignConversation.leave();
    }
  }

  /** Adds to a sign whether it is of a process that came after the one which was in the run's conversation. */
  attributed(sign: Sign): Sign {
    const session = this.#currentSession();
    const isForeign = isOfOtherNamespace(this.#services.processes, this.#run);
    return session === undefined || isForeign ? sign : this.#ownProcess.attributed(sign, session);
  }

  #isOwn(sign: Sign): boolean {
    return this.#conversation()?.vendorId === sign.session && !this.#isStray(sign);
  }

  #isStray(sign: Sign): boolean {
    const conversation = this.#conversation();
    return conversation !== null && strayPlaceOf(conversation, sign) !== null;
  }

  async #pollTranscript(reportedFile: string | null): Promise<void> {
    const conversation = this.#conversation();
    if (!conversation) return;
    if (reportedFile !== null) this.#transcript.setReportedFile(conversation, reportedFile);
    await this.#transcript.poll(conversation, this.attention.activity === "busy");
  }
}

/** Aligns slow polls to common times: fifty polls in one wake-up cost less than fifty wake-ups. */
function alignedDelay(nowMs: number, ms: number): number {
  if (ms < RUN_POLL_MS) return ms;
  return Math.ceil((nowMs + ms) / POLL_ALIGN_MS) * POLL_ALIGN_MS - nowMs;
}
