import { watch, type FSWatcher } from "node:fs";
import { TURN_OUTPUT_BYTES_MAX, TURN_POLL_MS, TURN_STOP_WAIT_MS } from "../../limits/index.ts";
import type { MailState } from "../../protocol/records/mail.ts";
import { conversationOfRun } from "../../store/conversations.ts";
import { messageById } from "../../store/messages.ts";
import { markStopped, runById, type Run } from "../../store/runs.ts";
import { turnOfRun, type Turn } from "../../store/turns.ts";
import type { TurnFacet, TurnProgress, TurnReader } from "../../vendors/turn.ts";
import { probeConversation } from "../conversations/probe/probe.ts";
import { askKey } from "../mail/mailbox-change.ts";
import { turnFiles, type TurnFiles } from "./files.ts";
import { judgeOutcome, judgeUnfinished, type TurnFacts } from "./judge-turn.ts";
import { endOfStderr, TurnOutput } from "./output.ts";
import type { TurnServices } from "./services.ts";
import { settleTurn } from "./settle.ts";

interface FollowOptions {
  timeoutMs: number;
  /** The turn was found under way: what it has shown so far was told before. */
  adopted: boolean;
  onProgress: (progress: TurnProgress) => void;
}

/**
 * Follows one turn while its program runs: reads what it prints, sends the answer as soon as the program has said that it is final, and
 * stops the program when nobody waits for the answer any more, or it takes too long.
 */
export class TurnFollower {
  readonly run: Run;
  readonly #services: TurnServices;
  readonly #turn: Turn;
  readonly #reader: TurnReader;
  readonly #output: TurnOutput;
  readonly #files: TurnFiles;
  readonly #onProgress: (progress: TurnProgress) => void;
  readonly #unlisten: (() => void)[];
  readonly #deadline: NodeJS.Timeout;
  readonly #timer: NodeJS.Timeout;
  #watcher: FSWatcher | null = null;
  #isQuiet: boolean;
  #isReading = false;
  #isStopping = false;
  #isClosed = false;
  #isLate = false;
  /** The length of the conversation when no process was left; null while that is not known. */
  #bytesAtEnd: number | null = null;

  constructor(services: TurnServices, run: Run, turn: Turn, facet: TurnFacet, options: FollowOptions) {
    this.run = run;
    this.#services = services;
    this.#turn = turn;
    this.#reader = facet.reader();
    this.#files = turnFiles(services.runs.runDir(run.id));
    this.#output = new TurnOutput(this.#files.stdout, this.#reader);
    this.#onProgress = options.onProgress;
    this.#isQuiet = options.adopted;
    const { timeoutMs } = options;
    const late = (): void => {
      this.#isLate = true;
      void this.stop(`perdure, because it had no answer after ${Math.round(timeoutMs / 1000)} s`);
    };
    const sinceMs = Math.max(0, services.mail.now() - turn.startedMs);
    this.#deadline = setTimeout(late, Math.max(0, timeoutMs - sinceMs)).unref();
    this.#timer = setInterval(() => this.#readSoon(), TURN_POLL_MS).unref();
    this.#unlisten = turn.messages.map((id) => services.mail.listen(askKey(id), () => this.#recheckMail()));
    this.#watch();
    this.#readSoon();
    // It may have been cancelled while the program was being started.
    this.#recheckMail();
  }

  /**
   * Looks, when no process is left, how long the conversation is, where the output shows nothing: such a turn may be made again. Some
   * programs have to be asked for that, which takes seconds.
   */
  async gone(): Promise<void> {
    const turn = turnOfRun(this.#services.db, this.run.id);
    if (turn === null || turn.outcome !== null) return;
    // Also where the wrapper has not waited for the verdict: an end that is good in itself may be one in no conversation.
    this.#services.conversations.exited(this.run.id);
    await this.#services.conversations.judged(this.run.id);
    const conversation = conversationOfRun(this.#services.db, this.run.id);
    if (this.#reader.hasBegun || conversation === null) return;
    const transcript = await probeConversation(this.#services, conversation);
    this.#bytesAtEnd = transcript.state === "good" ? transcript.bytes : transcript.state === "damaged" ? Infinity : 0;
  }

  /** Judges and settles, inside the change that ends the run or takes its name, what was not settled before. */
  settleAtEnd(exit: number | null): void {
    const turn = turnOfRun(this.#services.db, this.run.id);
    if (turn === null || turn.outcome !== null) return;
    this.#output.readAll();
    const facts = this.#facts(turn);
    const early = this.#reader.outcome();
    const judgement =
      early === null
        ? judgeUnfinished(this.#services, facts, exit, this.#reader.outcomeAtEnd(exit, endOfStderr(this.#files.stderr)))
        : judgeOutcome(this.#services, facts, early);
    settleTurn(this.#services, facts.run, turn, judgement);
  }

  /** Ends the program, once; who has stopped it stands in the run's history. */
  async stop(by: string): Promise<void> {
    if (this.#isStopping || this.#isClosed) return;
    this.#isStopping = true;
    try {
      await this.#services.writer.write(() => markStopped(this.#services.db, this.run.id, by));
      await this.#services.stopper.stop(runById(this.#services.db, this.run.id) ?? this.run, TURN_STOP_WAIT_MS);
    } catch (error) {
      this.#isStopping = false;
      this.#services.log(`the turn ${this.run.id} could not be stopped: ${String(error)}`);
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#deadline);
    clearInterval(this.#timer);
    this.#watcher?.close();
    for (const unlisten of this.#unlisten) unlisten();
  }

  /** A watch makes it fast; where the kernel grants none, the poll finds the same. */
  #watch(): void {
    try {
      this.#watcher = watch(this.#files.stdout, () => this.#readSoon());
      this.#watcher.on("error", (error) => this.#services.log(`${this.#files.stdout}: ${String(error)}`)).unref();
    } catch (error) {
      this.#services.log(`cannot watch ${this.#files.stdout}: ${String(error)}`);
    }
  }

  #readSoon(): void {
    if (this.#isReading || this.#isClosed) return;
    this.#isReading = true;
    this.#readOn()
      .catch((error: unknown) => this.#services.log(`the turn ${this.run.id} could not be read: ${String(error)}`))
      .finally(() => (this.#isReading = false));
  }

  async #readOn(): Promise<void> {
    for (;;) {
      const { progress, isAll } = this.#output.read();
      if (!this.#isQuiet) for (const each of progress) this.#onProgress(each);
      if (isAll) break;
      // A turn may print much at once: others are answered in between.
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#isClosed) return;
    }
    this.#isQuiet = false;
    if (this.#output.isTooLong) return this.stop(`perdure: it printed more than ${TURN_OUTPUT_BYTES_MAX} bytes`);
    const outcome = this.#reader.outcome();
    if (outcome === null) return;
    await this.#services.writer.write(() => {
      const turn = turnOfRun(this.#services.db, this.run.id);
      if (turn === null || turn.outcome !== null) return;
      const facts = this.#facts(turn);
      if (facts.run.endedMs === null && facts.run.displacedMs === null)
        settleTurn(this.#services, facts.run, turn, judgeOutcome(this.#services, facts, outcome));
    });
  }

  #facts(turn: Turn): TurnFacts {
    const [first = ""] = turn.messages;
    return {
      run: runById(this.#services.db, this.run.id) ?? this.run,
      turn,
      hasBegun: this.#reader.hasBegun,
      hasGrown: (this.#bytesAtEnd ?? 0) > (turn.bytesBefore ?? 0),
      isLate: this.#isLate,
      tries: messageById(this.#services.db, first)?.attempt ?? 1,
    };
  }

  /** Stops the program when what it was begun for was cancelled, has expired, or was superseded: its ask, or else all of its mail. */
  #recheckMail(): void {
    const { ask, messages } = this.#turn;
    const states = (ask === null ? messages : [ask]).map((id) => messageById(this.#services.db, id)?.state);
    const [state] = states;
    if (state === undefined || !states.every((each) => each !== undefined && TAKEN_BACK.has(each))) return;
    const what = ask === null ? "its mail" : "the ask";
    void this.stop(`perdure, because ${what} was ${state === "expired" ? "not answered in time" : state}`);
  }
}

/** The states of a message that nobody wants an answer to any more. */
const TAKEN_BACK: ReadonlySet<MailState> = new Set(["cancelled", "expired", "superseded"]);
