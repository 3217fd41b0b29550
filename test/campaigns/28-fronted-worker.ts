import { randomUUID } from "node:crypto";
import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { WorkerDetail } from "../../src/protocol/records/worker.ts";
import { check, pick, whole, within } from "../support/check.ts";
import { putInFront, TRICKS, type Trick } from "../support/front-program.ts";
import { readBanner, type InstalledPersona } from "../support/persona.ts";
import type { Talk } from "../support/talk.ts";

/** One start of the worker behind a program in front of the vendor's. */
interface Deal {
  trick: Trick;
  headless: boolean;
  /** A settings file of the user's, which leaves our hooks out. */
  ownSettings: boolean;
  /** The daemon is killed so long after the start; null for a daemon that lives. */
  daemonKilledAfterMs: number | null;
  /** The time between what the program shows of its command line and what it opens. */
  openingMs: number;
  /** Begins a conversation inside the program, if it is in its own. */
  rotates: boolean;
}

/** Deals every trick once before any comes again, and the worst first. */
export function dealer(random: () => number): () => Deal {
  let left: Trick[] = [];
  return () => {
    if (left.length === 0) left = [...TRICKS].toSorted((a, b) => rank(a) - rank(b));
    const trick = left.shift() ?? "pass on";
    return {
      trick,
      headless: random() < 0.4,
      ownSettings: random() < 0.25,
      daemonKilledAfterMs: random() < 0.15 ? whole(random, 300) : null,
      openingMs: pick(random, [20, 60, 120]),
      rotates: random() < 0.5,
    };
  };
}

function rank(trick: Trick): number {
  return trick === "add newest" ? 0 : trick === "hide" ? 1 : 2;
}

export interface Tally {
  starts: number;
  inItsOwn: number;
  elsewhere: number;
  nowhere: number;
  proved: number;
  mismatches: number;
  rotations: number;
  daemonsKilled: number;
}

export function newTally(): Tally {
  return {
    starts: 0,
    inItsOwn: 0,
    elsewhere: 0,
    nowhere: 0,
    proved: 0,
    mismatches: 0,
    rotations: 0,
    daemonsKilled: 0,
  };
}

const NAME = "coder";

/** A worker that is started behind programs in front, with a stranger's newer conversation in the same folder. */
export class FrontedWorker {
  readonly #persona: InstalledPersona;
  readonly #tally: Tally;
  readonly #strange: string;
  #mine: string;
  /** The generation of the run that was judged last. */
  #generation: number;

  private constructor(persona: InstalledPersona, tally: Tally, first: WorkerDetail, strange: string) {
    this.#persona = persona;
    this.#tally = tally;
    this.#mine = first.session?.id ?? "";
    this.#generation = first.generation;
    this.#strange = strange;
  }

  static async begin(persona: InstalledPersona, tally: Tally): Promise<FrontedWorker> {
    const first = await persona.begin(NAME);
    await first.say("mine");
    await persona.untilProved(NAME);
    await first.end();
    const worker = await persona.untilEndRecorded(NAME);
    const stranger = persona.runDirectly(persona.facts.takesIds ? ["--session-id", randomUUID()] : []);
    const strange = readBanner(await within("the stranger to greet", stranger.answer())).session;
    await stranger.say("strange");
    await stranger.end();
    return new FrontedWorker(persona, tally, worker, strange);
  }

  /** Plays one start; fails if a conversation is proved that was not open, or the worker goes along to another one. */
  async play(round: number, deal: Deal): Promise<void> {
    const text = `round ${round}`;
    const env = this.#environment(deal);
    const command = ["--", this.#persona.facts.program, ...this.#settings(deal)];
    const prompt = deal.headless ? this.#persona.facts.headless(text) : [];
    const before = this.#sizes();
    const talk = this.#persona.run(NAME, [...command, ...prompt], { env });
    const killing = this.#killDaemon(deal);
    const opened = deal.headless ? await this.#headless(talk, before) : await this.#interactive(talk, text);
    await killing;
    const told = (): string => `round ${round}, ${this.#persona.facts.vendor}, ${JSON.stringify({ ...deal, opened })}`;
    if (opened !== null && !deal.headless) await this.#judge(opened, deal, told);
    const rotatedTo = opened === this.#mine && !deal.headless && deal.rotates ? await this.#rotate(talk, round) : null;
    talk.child.stdin?.end();
    const { code } = await within(`the end of ${told()}`, talk.ended);
    // A daemon that was killed during the claim began no run; then nothing may have been started either.
    const mayBeRefused = deal.daemonKilledAfterMs !== null && opened === null && code !== 0;
    await this.#checkEnd(opened, rotatedTo, mayBeRefused, told);
    this.#count(opened, rotatedTo);
  }

  #environment({ trick, openingMs }: Deal): Record<string, string> {
    const { home, facts } = this.#persona;
    const file = this.#persona.transcript(this.#strange) ?? "";
    const soon = Date.now() / 1_000 + 1;
    utimesSync(file, soon, soon);
    const resume = facts.vendor === "codex" ? ["resume", this.#strange] : ["--resume", this.#strange];
    const front = {
      program: facts.program,
      real: join(home.dir, "bin", facts.program),
      newest: NEWEST[facts.vendor] ?? resume,
      other: { words: resume, id: this.#strange, file: null },
      transcript: this.#persona.transcript(this.#mine),
    };
    const PATH = putInFront(join(home.dir, "front"), front, trick, home.env.PATH ?? "");
    return { ...home.env, PATH, PERDURE_SCRIPT: `opening ${openingMs}` };
  }

  #settings({ ownSettings }: Deal): string[] {
    if (!ownSettings || this.#persona.facts.vendor !== "claude") return [];
    const file = join(this.#persona.home.dir, "own-settings.json");
    writeFileSync(file, "{}");
    return ["--settings", file];
  }

  async #killDaemon({ daemonKilledAfterMs: afterMs }: Deal): Promise<void> {
    if (afterMs === null) return;
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    const pid = this.#persona.home.daemonPid();
    if (pid === null) return;
    process.kill(pid, "SIGKILL");
    this.#tally.daemonsKilled++;
  }

  /** Returns the conversation that was really opened, by what is in it afterwards; null when none was. */
  async #headless(talk: Talk, before: ReadonlyMap<string, number>): Promise<string | null> {
    const { stdout } = await within("the end of a headless run", talk.ended);
    if (!stdout.includes("turns=")) return null;
    const grown = [...this.#sizes()].find(([id, prompts]) => prompts > (before.get(id) ?? 0));
    return grown?.[0] ?? "a new one";
  }

  #sizes(): Map<string, number> {
    return new Map([this.#mine, this.#strange].map((id) => [id, this.#persona.prompts(id).length]));
  }

  /** Returns the conversation that was really opened, by what the program itself says; null when it ended before that. */
  async #interactive(talk: Talk, text: string): Promise<string | null> {
    const greeting = await within(
      "a greeting, or the end",
      Promise.race([talk.answer(), talk.ended]).catch(() => null),
    );
    if (typeof greeting !== "string") return null;
    talk.type(text);
    // Words that a program in front added may be a prompt for this one, which it answers before.
    const answer = await within(
      "an answer",
      talk.until(new RegExp(`last=${text}\\n[^]*?> `)).catch(() => null),
    );
    return answer === null ? null : readBanner(greeting).session;
  }

  /** The daemon comes to the right verdict by itself; one that came later may stay without one, never with a wrong one. */
  async #judge(opened: string, deal: Deal, told: () => string): Promise<void> {
    const own = opened === this.#mine;
    const isJudged = ({ session }: WorkerDetail): boolean => session?.proved !== "pending" || session.id !== this.#mine;
    if (own || deal.daemonKilledAfterMs === null) await this.#persona.until(NAME, "to be judged", isJudged);
    const { session } = await this.#persona.show(NAME);
    check(session?.id === this.#mine, () => `carried on to ${session?.id}: ${told()}`);
    check(own || session.proved !== true, () => `a false proof, ${JSON.stringify(session)}: ${told()}`);
    check(!own || session.proved === true, () => `no proof, ${JSON.stringify(session)}: ${told()}`);
    if (session.proved === false) this.#tally.mismatches++;
  }

  async #rotate(talk: Talk, round: number): Promise<string> {
    talk.type("/clear");
    const [, id = ""] = await within("a new conversation", talk.until(/now in session ([^ ,]+)[^]*?\n> /));
    await within("an answer in it", talk.say(`first of round ${round}`));
    await this.#persona.until(NAME, "to be followed", ({ session }) => session?.id === id);
    return id;
  }

  async #checkEnd(
    opened: string | null,
    rotatedTo: string | null,
    mayBeRefused: boolean,
    told: () => string,
  ): Promise<void> {
    const own = rotatedTo ?? this.#mine;
    await this.#persona.until(NAME, "to be ended", ({ run }) => run === null);
    // A drill waits until everything is known of the run before it.
    await this.#persona.home.perdure(["drill", NAME]);
    const { session, lastRun } = await this.#persona.show(NAME);
    const seen = (): string => `${JSON.stringify({ session, entries: lastRun?.sessions })}: ${told()}`;
    check(session?.id === own, () => `carried on, ${seen()}`);
    const generation = lastRun?.generation ?? 0;
    if (generation === this.#generation) return check(mayBeRefused, () => `no run was begun, ${seen()}`);
    this.#generation = generation;
    const proved = (lastRun?.sessions ?? []).filter((entry) => entry.proved === true).map(({ id }) => id);
    const open = opened === this.#mine ? [this.#mine, ...(rotatedTo === null ? [] : [rotatedTo])] : [];
    check(
      proved.every((id) => open.includes(id)),
      () => `a false proof, ${seen()}`,
    );
    if (proved.length > 0) this.#tally.proved++;
    this.#mine = own;
  }

  #count(opened: string | null, rotatedTo: string | null): void {
    this.#tally.starts++;
    if (rotatedTo !== null) this.#tally.rotations++;
    if (opened === null) this.#tally.nowhere++;
    else if (opened === this.#mine || rotatedTo !== null) this.#tally.inItsOwn++;
    else this.#tally.elsewhere++;
  }
}

const NEWEST: Readonly<Record<string, readonly string[]>> = { claude: ["--continue"], codex: ["--last"] };
