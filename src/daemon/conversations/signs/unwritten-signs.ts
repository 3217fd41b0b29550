import { UNWRITTEN_SIGNS_BYTES, UNWRITTEN_SIGNS_MAX } from "../../../limits/index.ts";
import { isOpen } from "../../../core/proof.ts";
import { isPerdureError } from "../../../protocol/errors.ts";
import type { Sign } from "../../../protocol/records/conversation.ts";
import { ReservedFile } from "../../../state/reserved-file.ts";
import { runById, type Run } from "../../../store/runs.ts";
import { parseObject } from "../../../util/fields.ts";
import type { BaseServices } from "../../base-services.ts";
import { applySign, recordDetails, type SignOutcome } from "../binding/bindings.ts";

/**
 * The signs of all runs that are not in the store yet, because its disk is full, in a file that had its room before. The next daemon
 * finds there what this one knew, should both daemon and agent die before there is room again.
 */
export class SignJournal {
  readonly #log: (line: string) => void;
  readonly #file: ReservedFile;
  readonly #signs: Map<string, readonly Sign[]>;

  constructor({ paths, db, log }: Pick<BaseServices, "paths" | "db" | "log">) {
    this.#log = log;
    this.#file = new ReservedFile(paths.unwrittenSigns, UNWRITTEN_SIGNS_BYTES);
    const isUnended = (run: string): boolean => runById(db, run)?.endedMs === null;
    this.#signs = new Map([...parseSigns(this.#read())].filter(([run]) => isUnended(run)));
    this.#try(() => this.#file.reserve());
  }

  of(run: string): readonly Sign[] {
    return this.#signs.get(run) ?? [];
  }

  /** Keeps the signs of a run in place of those it had. */
  set(run: string, signs: readonly Sign[]): void {
    if (signs.length === 0 && !this.#signs.has(run)) return;
    if (signs.length === 0) this.#signs.delete(run);
    else this.#signs.set(run, signs);
    this.#try(() => this.#file.write(this.#text()));
  }

  /** Where the file has no room for all, the last sign of each run tells where its agent is. */
  #text(): string {
    const all = JSON.stringify(Object.fromEntries(this.#signs));
    if (Buffer.byteLength(all) < UNWRITTEN_SIGNS_BYTES - ROOM_FOR_DIGEST) return all;
    return JSON.stringify(Object.fromEntries([...this.#signs].map(([run, signs]) => [run, signs.slice(-1)])));
  }

  #read(): string {
    let text = "";
    this.#try(() => (text = this.#file.read()));
    return text;
  }

  #try(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#log(`the signs that are not in the store are kept in memory alone: ${String(error)}`);
    }
  }
}

const ROOM_FOR_DIGEST = 64;

/** Applies the signs of one run, and keeps those that a full disk does not take until there is room. */
export class UnwrittenSigns {
  readonly #services: BaseServices;
  readonly #journal: SignJournal;
  readonly #run: string;

  constructor(services: BaseServices, journal: SignJournal, run: Run) {
    this.#services = services;
    this.#journal = journal;
    this.#run = run.id;
  }

  /** The signs that are not in the store, oldest first. */
  get signs(): readonly Sign[] {
    return this.#journal.of(this.#run);
  }

  /** The conversation that the agent was seen in last, where that is not in the store. */
  get session(): string | null {
    return this.signs.findLast((sign) => isOpen(sign) && sign.stays !== true)?.session ?? null;
  }

  /** Applies what waits, and then the sign, in one change; returns what each has led to, or null where the disk is full. */
  async apply(sign: Sign | null): Promise<{ sign: Sign; outcome: SignOutcome }[] | null> {
    const waiting = this.signs;
    const signs = sign === null ? waiting : [...waiting, sign];
    if (signs.length === 0) return [];
    try {
      const applied = await this.#services.writer.write(() => signs.map((each) => this.#applyOne(each)));
      this.#journal.set(this.#run, []);
      return applied;
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      if (sign !== null) this.#keep(sign);
      return null;
    }
  }

  /** Applies, inside a change, what waits. The signs are kept until that change is on disk; to apply them twice leads to the same. */
  applyWaiting(): void {
    for (const sign of this.signs) this.#applyOne(sign);
  }

  forget(): void {
    this.#journal.set(this.#run, []);
  }

  #applyOne(sign: Sign): { sign: Sign; outcome: SignOutcome } {
    const outcome = applySign(this.#services, this.#run, sign);
    recordDetails(this.#services, this.#run, sign);
    return { sign, outcome };
  }

  #keep({ session, means, evidence, transcript, activity, name, prompt, place, isSuccessors, stays }: Sign): void {
    const kept: Sign = { session, means, evidence, transcript, activity, name, prompt, place, isSuccessors, stays };
    const last = this.signs.at(-1);
    if (last !== undefined && tellsNothingNew(last, kept)) return;
    const signs = [...this.signs, kept];
    // What came in between is left out first: where the agent is and where it came from are known then.
    this.#journal.set(this.#run, [...signs.slice(0, 1), ...signs.slice(1).slice(1 - UNWRITTEN_SIGNS_MAX)]);
  }
}

/** Does what a full disk may leave undone, because it is done again later. */
export async function unlessDiskFull(act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!isDiskFull(error)) throw error; // the daemon has logged that the disk is full
  }
}

function isDiskFull(error: unknown): boolean {
  return isPerdureError(error) && error.code === "disk-full";
}

function tellsNothingNew(last: Sign, { session, means, prompt, activity, name }: Sign): boolean {
  if (last.session !== session || (last.means !== means && means === "open")) return false;
  const isSame = (a: unknown, b: unknown): boolean => b === undefined || a === b;
  return isSame(last.prompt, prompt) && isSame(last.name, name) && (activity !== "busy" || last.activity === "busy");
}

function parseSigns(text: string): Map<string, readonly Sign[]> {
  const runs = Object.entries(parseObject(text) ?? {});
  return new Map(runs.map(([run, signs]) => [run, Array.isArray(signs) ? signs.filter(isSign) : []]));
}

function isSign(value: unknown): value is Sign {
  const { session, means, evidence } = (value ?? {}) as Partial<Sign>;
  return typeof session === "string" && (means === "open" || means === "echo") && typeof evidence === "string";
}
