import { rmSync } from "node:fs";
import {
  CALM_LOOKS,
  MISMATCH_CONFIRM_MS,
  PROOF_LOOK_MS,
  QUIET_LOOK_MS,
  RUN_POLL_MS,
  SIGN_SETTLE_MS,
} from "../../limits/index.ts";
import { goneTo } from "../../core/rotation.ts";
import type { Sign } from "../../protocol/records/conversation.ts";
import type { ProcessInfo } from "../../runtime/process/index.ts";
import type { RunRow } from "../../store/runs.ts";
import { lastSessionOfRun, sessionOfRun, type SessionRow } from "../../store/conversations.ts";
import type { Adapter } from "../../vendors/index.ts";
import { AgentWatch, type Signs } from "./agent-process.ts";
import { AttentionWatch } from "./attention.ts";
import { readEvents } from "./hook-events.ts";
import type { Watched } from "../services.ts";
import { stopHeadless } from "./mismatch.ts";
import { proveByTranscript } from "./proof.ts";
import { applySign, notePrompt } from "./bindings.ts";
import { SilenceWatch } from "./hang-detector.ts";
import { StrangerWatch } from "./foreign-openers.ts";
import { TranscriptWatch } from "./transcript.ts";
import { withOthers } from "./align-timer.ts";

/** Follows one run: first whether it is in the right conversation, then where it goes from there. */
export class Follower {
  readonly #house: Watched;
  #run: RunRow;
  readonly #adapter: Adapter;
  readonly #late: boolean;
  readonly #isWatched: () => boolean;
  readonly #transcript: TranscriptWatch;
  /** What its process showed at the last look: only what was not there then is news. Null before the first sign. */
  #shown: ReadonlySet<string> | null = null;
  readonly #agent: AgentWatch;
  /** A sign of another conversation before any of the right one: on its way there, or lost? */
  #doubt: { sign: Sign; sinceMs: number } | null = null;
  /** Grows from look to look until the first sign, up to the usual poll. */
  #waitMs = PROOF_LOOK_MS;
  #timer: NodeJS.Timeout | null = null;
  /** One step at a time: two at once would tell the same news twice, and in another order. */
  #last: Promise<void> = Promise.resolve();
  #stopped = false;
  /** Looks in a row at which it waited for somebody, and whatever it does next is told. */
  #calmLooks = 0;
  readonly #listening: (() => void) | null;

  readonly attention: AttentionWatch;
  readonly strangers: StrangerWatch;
  readonly silence: SilenceWatch;
  /** Another worker's conversation that it has gone to. */
  foreign: string | null = null;

  /** `late`: found running by a daemon that did not see it begin. */
  constructor(house: Watched, run: RunRow, adapter: Adapter, late: boolean, signs: Signs) {
    this.#house = house;
    this.#isWatched = signs.watched;
    this.#run = run;
    this.#adapter = adapter;
    this.#late = late;
    this.#transcript = new TranscriptWatch(house);
    this.#agent = new AgentWatch(house, adapter);
    this.strangers = new StrangerWatch(house, adapter, signs.recent);
    this.silence = new SilenceWatch(house);
    this.attention = new AttentionWatch(house, run, adapter);
    const asked = { runDir: house.watch.runDir(run.id), session: this.#session()?.vendor_id ?? "" };
    this.#listening = adapter.listen?.(asked, (sign) => this.#told(sign)) ?? null;
    this.#lookIn(this.#waitMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#listening?.();
    if (this.#timer) clearTimeout(this.#timer);
  }

  /** Another process holds the name for the run from now on. */
  movedTo(run: RunRow): void {
    this.#run = run;
    // What it may have shown by now was looked for elsewhere; most have yet to start, and will be told of.
    this.#waitMs = RUN_POLL_MS / 2;
    this.#lookIn(this.#isWatched() ? this.#waitMs : PROOF_LOOK_MS);
  }

  /** What its terminal shows, in turn with what it tells by itself. */
  shown(tell: (attention: AttentionWatch) => Promise<void>): void {
    void this.#step(() => tell(this.attention));
  }

  /** Something happened where this vendor's processes leave their signs. */
  nudge(): void {
    this.#calmLooks = 0;
    this.#transcript.stir();
    this.#lookIn(SIGN_SETTLE_MS);
  }

  /** A process has come that is not its own: who knows what it has opened. */
  warn(): void {
    this.strangers.hurry();
    if (this.#calmLooks >= CALM_LOOKS) this.#lookIn(RUN_POLL_MS);
    this.#calmLooks = 0;
  }

  get agent(): ProcessInfo | null {
    return this.#agent.found;
  }

  get wrapperPid(): number {
    return this.#run.pid;
  }

  /** A hook has left a file in the run's folder. */
  heard(): void {
    this.#calmLooks = 0;
    this.silence.stir();
    void this.#step(() => this.#hear());
  }

  #told(sign: Sign): void {
    this.silence.stir();
    void this.#step(() => this.#apply(sign));
  }

  #lookIn(ms: number): void {
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#stopped) return;
    const next = (): void => this.#lookIn(this.#calmLooks >= CALM_LOOKS ? QUIET_LOOK_MS : this.#waitMs);
    this.#timer = setTimeout(
      () => void this.#step(() => this.#look()).finally(next),
      withOthers(this.#house.monotonicMs(), ms),
    );
    this.#timer.unref();
  }

  #step(step: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(step).catch((error: unknown) => {
      this.#house.log(`could not follow the conversation of ${this.#run.id}: ${String(error)}`);
    });
    return this.#last;
  }

  async #look(): Promise<void> {
    const signs = this.#signs();
    this.#waitMs = signs.length > 0 ? RUN_POLL_MS : Math.min(this.#waitMs * this.#patience(), RUN_POLL_MS);
    await this.#hear();
    const current = this.#session()?.vendor_id;
    const here = signs.find(({ session }) => session === current);
    const gone = goneTo(current, this.#shown, signs);
    if (here) {
      this.#doubt = this.foreign = null;
      await this.#apply(here);
    }
    if (gone && this.#late) await proveByTranscript(this.#house, this.#run);
    if (gone && !this.#isDoubtful(gone, here !== undefined)) {
      if (gone.session !== this.foreign) await this.#apply(gone);
      this.#shown = new Set(signs.map(({ session }) => session));
    } else if (here) {
      this.#shown = new Set(signs.map(({ session }) => session));
    }
    await this.#noteTranscript(null);
    const session = this.#session();
    await this.strangers.look(this.#run, session, this.#agent.found);
    const transcript = session && this.#transcript.fileOf(session);
    await this.silence.look(this.#run, this.attention.activity === "busy", signs, transcript);
    const sure = here !== undefined && this.#doubt === null && this.foreign === null && !this.strangers.suspicious;
    const calm = sure && this.attention.waits && this.#isWatched();
    this.#calmLooks = calm ? this.#calmLooks + 1 : 0;
  }

  /** Where the first sign is told, it need not be looked for all the time: fifty that start together want the processor. */
  #patience(): number {
    return this.#isWatched() ? 3 : 1.1;
  }

  /** What was still in doubt when the run ended is no longer: it never got where it should have been. */
  unsettled(): Sign | null {
    return this.#late ? null : (this.#doubt?.sign ?? null);
  }

  /** Where the process is, or was when it was killed, as far as it shows or has left something behind. */
  lastSigns(): Sign[] {
    const session = this.#session();
    if (!session) return [];
    const live = this.#signs();
    const remains = this.#agent.remains(session);
    const signs = live.length > 0 ? live : remains;
    const here = signs.find((sign) => sign.session === session.vendor_id);
    const gone = goneTo(session.vendor_id, this.#shown, signs);
    const known = lastSessionOfRun(this.#house.db, this.#run.id)?.proved === "true" || here !== undefined;
    return [...(here ? [here] : []), ...(gone && known ? [gone] : [])];
  }

  /**
   * A program may register before it has opened what it was told to: only one that stays elsewhere is in the wrong. Of one
   * that nobody saw begin, it cannot be told at all: it may have been in the right one before.
   */
  #isDoubtful(sign: Sign, seenHere: boolean): boolean {
    const proved = lastSessionOfRun(this.#house.db, this.#run.id)?.proved;
    if (seenHere || proved === "true") return false;
    if (proved === "false") return true;
    const now = this.#house.monotonicMs();
    if (this.#doubt?.sign.session !== sign.session) this.#doubt = { sign, sinceMs: now };
    return this.#late || now - this.#doubt.sinceMs < MISMATCH_CONFIRM_MS;
  }

  #session(): SessionRow | null {
    return sessionOfRun(this.#house.db, this.#run.id);
  }

  #signs(): Sign[] {
    const session = this.#session();
    // Until its pane is there we stand for it ourselves, and what we have started meanwhile is not its agent.
    return session && this.#run.pid !== process.pid ? this.#agent.signs(this.#run, session) : [];
  }

  async #hear(): Promise<void> {
    for (const { sign, file } of readEvents(this.#house.watch.runDir(this.#run.id), this.#adapter)) {
      await this.#apply(sign);
      rmSync(file, { force: true });
    }
  }

  async #apply(sign: Sign): Promise<void> {
    if (sign.stays && this.#session()?.vendor_id !== sign.session) return;
    if (sign.activity && sign.activity !== this.attention.activity) this.#transcript.stir();
    await this.attention.told(sign);
    const entry = lastSessionOfRun(this.#house.db, this.#run.id);
    // Nine signs of ten say what is known: they cost no commit.
    if (entry?.proved !== "true" || this.#session()?.vendor_id !== sign.session) {
      const outcome = await this.#house.writer.write(() => applySign(this.#house, this.#run.id, sign));
      if (outcome === "mismatch") await stopHeadless(this.#house, this.#run);
      if (outcome === "foreign") this.foreign = sign.session;
    }
    await this.#notePrompt(sign);
    const own = this.#session()?.vendor_id === sign.session;
    if (own && sign.transcript !== undefined) await this.#noteTranscript(sign.transcript);
  }

  async #notePrompt(sign: Sign): Promise<void> {
    if (sign.activity !== "busy" || this.#session()?.prompted !== 0) return;
    await this.#house.writer.write(() => notePrompt(this.#house, this.#run.id, sign));
  }

  async #noteTranscript(told: string | null): Promise<void> {
    const session = this.#session();
    if (!session) return;
    if (told !== null) this.#transcript.tell(session, told);
    await this.#transcript.look(session, this.attention.activity === "busy");
  }
}
