import { processTable } from "../../src/runtime/process/index.ts";
import type { Talk } from "../support/talk.ts";
import { seeded } from "../support/campaign.ts";
import { damageTranscript } from "./23-damage-transcript.ts";
import type { Plan, Tally } from "./23-plan.ts";
import { check, whole, within } from "../support/check.ts";
import { readBanner, type Banner, type InstalledPersona } from "../support/persona.ts";

/** How far a launch gets before everything of it is killed. */
const LAUNCH_MS = 400;

/** The things that the workers of one folder share. */
export interface Folder {
  tally: Tally;
  /** The worker of each conversation. */
  owners: Map<string, string>;
}

/** One of many workers of the same vendor in the same folder, told apart by nothing but what it was told. */
export class LookAlike {
  readonly name: string;
  readonly #persona: InstalledPersona;
  readonly #folder: Folder;
  #id: string | null = null;
  /** The prompts of this conversation that were answered; and those that may or may not have been written before the kill. */
  #asked: string[] = [];
  #unsure: string | null = null;
  #talk: Talk | null = null;
  #prompted = false;

  constructor(persona: InstalledPersona, name: string, folder: Folder) {
    this.#persona = persona;
    this.name = name;
    this.#folder = folder;
  }

  async comeBack(round: number, { life, act, seed }: Plan): Promise<void> {
    const random = seeded(seed);
    const command = this.#id === null ? ["--", this.#persona.facts.program] : [];
    if (life === "misled") return this.#mislead(round, command);
    const talk = this.#persona.run(this.name, command);
    if (life === "killed at its start") return this.#killAtStart(talk, random() * LAUNCH_MS);
    const banner = readBanner(await within(`${this.name} to greet in round ${round}`, talk.answer()));
    this.#talk = talk;
    this.#recognise(banner);
    this.#folder.tally.resumes++;
    await this.#checkProcess(banner);
    this.#prompted = life === "prompted";
    if (!this.#prompted) return;
    await this.#ask(round, random);
    await this.#checkProof(banner.session);
    if (act === "new conversation") await this.#rotate(round, random);
    if (act === "nested agent") await this.#nest(banner.session);
  }

  async die(round: number, plan: Plan): Promise<void> {
    const talk = this.#talk;
    if (talk === null) return;
    this.#talk = null;
    const { tally } = this.#folder;
    // A kill in the instant in which a transcript is created leaves an empty one, which is refused: a death of its own.
    const begun = this.#asked.length > 0 || plan.death !== "in a turn";
    const death = this.#prompted && begun ? plan.death : "unprompted";
    if (death === "in a turn") talk.type((this.#unsure = `${this.name}: unanswered in round ${round}`));
    if (death === "hanging") talk.type("/hang");
    if (death === "unprompted") tally.killedUnprompted++;
    else if (death === "idle") tally.killedIdle++;
    else tally.killedInTurn++;
    await this.#persona.kill(this.name, talk);
    if (this.#id === null || this.#asked.length === 0 || plan.harm === "none") return;
    const refused = await damageTranscript(this.#persona, this.name, this.#id, plan.harm, seeded(plan.seed));
    if (refused) tally.refusals++;
    else tally.fromCustody++;
  }

  /** Nobody else's words are in any of its conversations. */
  checkUnmixed(): void {
    for (const [id, owner] of this.#folder.owners) {
      if (owner !== this.name) continue;
      const strange = this.#persona.prompts(id).find((text) => !text.startsWith(`${this.name}: `));
      check(strange === undefined, () => `${this.name}'s ${id} was asked ${JSON.stringify(strange)}`);
    }
  }

  /** At a random moment of a launch: before the claim, between claim and start, or when it is nearly there. */
  async #killAtStart(talk: Talk, afterMs: number): Promise<void> {
    const moment = new Promise((resolve) => setTimeout(resolve, afterMs));
    await Promise.race([moment, talk.ended]);
    await this.#persona.kill(this.name, talk);
    this.#folder.tally.killedAtStart++;
  }

  /** Comes up in another conversation than the one it was told, and says something there: it is marked, and keeps its own. */
  async #mislead(round: number, command: string[]): Promise<void> {
    const env = { ...this.#persona.home.env, PERDURE_SCRIPT: "wrong-id" };
    const talk = this.#persona.run(this.name, command, { env });
    const wrong = readBanner(await within(`${this.name} to greet elsewhere in round ${round}`, talk.answer())).session;
    await within(`${this.name} to answer elsewhere`, talk.say(`${this.name}: misled in round ${round}`));
    const { session } = await this.#persona.until(this.name, "to be judged", (worker) => {
      return worker.session?.proved !== "pending";
    });
    const kept = session?.proved === false && session.id !== wrong && (this.#id ?? session.id) === session.id;
    check(kept, () => `${this.name} was taken along to ${wrong}: ${JSON.stringify(session)}, not ${this.#id}`);
    this.#folder.tally.misled++;
    await this.#persona.kill(this.name, talk);
  }

  /** Checks the banner: which conversation it is and how many turns it has, before any prompt. */
  #recognise({ session, turns }: Banner): void {
    const told = (): string =>
      `${this.name} came back in ${session} with ${turns} turns, not ${this.#id} with ${this.#asked.length}`;
    check(this.#id === null || this.#id === session, told);
    const written = this.#persona.prompts(session);
    const kept = [...this.#asked, ...(this.#unsure === null ? [] : [this.#unsure])].slice(0, written.length);
    check(written.length >= this.#asked.length && written.join("\n") === kept.join("\n"), told);
    check(turns === written.length, told);
    this.#own(session);
    this.#asked = written;
    this.#unsure = null;
  }

  #own(id: string): void {
    const owner = this.#folder.owners.get(id);
    check(owner === undefined || owner === this.name, `${this.name} is in ${owner}'s conversation ${id}`);
    this.#folder.owners.set(id, this.name);
    this.#id = id;
  }

  /** One process in it, of this run, started to continue it: or to begin it, if nothing was ever said. */
  async #checkProcess({ session, turns }: Banner): Promise<void> {
    const [pid, ...more] = this.#persona.holders(session);
    const { run } = await this.#persona.show(this.name);
    const told = (): string =>
      `${this.name}: ${session} is open in ${pid} ${more.join(" ")}, run ${JSON.stringify(run)}`;
    check(pid !== undefined && more.length === 0, told);
    check(run !== null && processTable().variable(pid, "PERDURE_RUN") === run.id, told);
    const { facts } = this.#persona;
    const start = this.#persona.starts().findLast((each) => each.pid === pid && each.name === this.name);
    const continued = start && facts.resumedIn(start.args) === session;
    const begun = turns === 0 && start && facts.begunIn(start.args) === session;
    check(continued === true || begun === true, () => `${this.name} was started with ${JSON.stringify(start)}`);
  }

  async #ask(round: number, random: () => number): Promise<void> {
    const secret = `${this.name}: secret ${whole(random, 1e9)}`;
    const text = this.#asked.length === 0 ? secret : `${this.name}: round ${round}`;
    this.#asked.push(text);
    const answer = await within(`${this.name} to answer`, this.#talk?.say(text) ?? Promise.resolve(""));
    const expected = `turns=${this.#asked.length} first=${this.#asked[0]} last=${text}`;
    check(answer === expected, () => `${this.name} said ${JSON.stringify(answer)}, not ${JSON.stringify(expected)}`);
  }

  async #checkProof(id: string): Promise<void> {
    const { session, lastRun, attention } = await this.#persona.until(this.name, "to be proved", ({ lastRun: run }) => {
      return run?.sessions.at(-1)?.proved !== "pending";
    });
    const proof = lastRun?.sessions.at(-1);
    const told = (): string => `${this.name}: ${JSON.stringify({ session, proof, attention })}, not ${id}`;
    check(session?.id === id && proof?.id === id && proof.proved === true && attention === null, told);
    check((proof.evidence ?? "") !== "", told);
  }

  async #rotate(round: number, random: () => number): Promise<void> {
    const said = await within(`${this.name} to begin anew`, this.#talk?.say("/clear") ?? Promise.resolve(""));
    const id = /now in session ([^ ,]+)/.exec(said)?.[1] ?? "";
    check(id !== "" && !this.#folder.owners.has(id), `${this.name}: ${said}`);
    this.#own(id);
    this.#asked = [];
    this.#folder.tally.rotations++;
    const { takesIds, announcesRotation } = this.#persona.facts;
    // A conversation without a transcript cannot be asked for again where the vendor makes the ids.
    if (!takesIds || random() < 0.5) await this.#ask(round, random);
    // Where nothing tells of it, it has to be seen before a kill.
    if (!announcesRotation) await this.#persona.until(this.name, "to be followed", ({ session }) => session?.id === id);
  }

  async #nest(id: string): Promise<void> {
    const said = await within(
      `${this.name}'s nested agent`,
      this.#talk?.say(`/print nested in ${this.name}`) ?? Promise.resolve(""),
    );
    check(said.includes(`turns=1 first=nested in ${this.name}`), `${this.name}: ${said}`);
    check((await this.#persona.show(this.name)).session?.id === id, `${this.name} was led away by a nested agent`);
    this.#folder.tally.nestedRuns++;
  }
}
