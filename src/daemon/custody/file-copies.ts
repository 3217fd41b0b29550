import { rename } from "node:fs/promises";
import { CUSTODY_TRANSCRIPT_BYTES_MAX } from "../../limits/index.ts";
import { isErrno, statExactly } from "../../state/files.ts";
import type { FileCopy } from "../../store/custody.ts";
import { appendTail, copyWhole, digestOfCopy, hashPrefix, type Copy } from "./copy.ts";
import { changeMark, isSourceUnchanged, sizeOf } from "./files.ts";
import { goneFrom, type Gone } from "./gone.ts";
import type { Line } from "../../vendors/shared/split.ts";

/** A file of a conversation, where its copy lies, and the copy on record. */
export interface KeptFile {
  source: string;
  target: string;
  record: FileCopy | null;
}

export interface FileUpdateOptions {
  /** Reads the copy, and makes another one if it is damaged. */
  verify: boolean;
  /** No run writes any more: all of the file is compared with the copy. */
  final: boolean;
  judge: TakenBackJudge;
}

/** Tells what the vendor's program itself has taken back. */
export interface TakenBackJudge {
  /** Returns what has to be known of a line to judge; null for nothing. */
  read: (line: Line) => Line | null;
  isTakenBack: (gone: Gone) => Promise<boolean>;
}

/** The outcome of an update; `copy` is what is to be recorded, null if nothing is. */
export type FileUpdate =
  | { state: "unchanged"; copy: null }
  | { state: "copied" | "taken-back"; copy: FileCopy }
  /** There is no such file, it is too long, or it is shorter than what was copied and the copy is damaged. */
  | { state: "uncopied"; copy: null; why: string | null }
  /** The file no longer begins with what was copied. */
  | { state: "changed"; copy: FileCopy | null; why: string; isNew: boolean };

/** The outcome of a comparison. */
export type Comparison = { state: "same" | "taken-back" } | { state: "changed"; why: string };

/** Copies single files, and compares them with their copies. A transcript only grows, unless its vendor's program takes lines back. */
export class FileCopies {
  /** Running hashes of the copies, by their files; after a restart of the daemon a copy is read once to rebuild its hash. */
  readonly #copies = new Map<string, Copy>();
  /** The marks of what each source was when its copy was last extended, though only the end of that was compared. */
  readonly #seen = new Map<string, string>();
  /** The copies whose source was found changed: it is not compared again at every poll. */
  readonly #changed = new Map<string, { sha256: string; why: string; isTold: boolean }>();

  forget(isGone: (target: string) => boolean): void {
    for (const map of [this.#copies, this.#seen, this.#changed])
      for (const target of map.keys()) if (isGone(target)) map.delete(target);
  }

  /** Brings the copy up to date. A file that was changed is not copied over what was copied before. */
  async update(file: KeptFile, options: FileUpdateOptions): Promise<FileUpdate> {
    const { source, target, record } = file;
    const stat = statExactly(source);
    if (!stat?.isFile() || stat.size === 0n) return { state: "uncopied", copy: null, why: null };
    const mark = changeMark(stat);
    const isSeen = !options.final && this.#seen.get(target) === mark;
    if (record && (isSeen || isSourceUnchanged(record, source)) && (await this.#isThere(target, record, options)))
      return { state: "unchanged", copy: null };
    if (stat.size > CUSTODY_TRANSCRIPT_BYTES_MAX) {
      return { state: "uncopied", copy: null, why: `it has ${stat.size} bytes, too many to be copied` };
    }
    const update = await this.#updateFrom(file, Number(stat.size), options);
    if (update.copy === null) return update;
    this.#seen.set(target, mark);
    // A file of which only the end was compared may have been changed before that: the next start has to read it.
    const isCompared = options.final ? update.state !== "changed" : update.state === "taken-back" || record === null;
    return {
      ...update,
      copy: { ...update.copy, sourceBytes: Number(stat.size), sourceChanged: isCompared ? mark : "" },
    };
  }

  async #updateFrom(
    { source, target, record }: KeptFile,
    size: number,
    { verify, final, judge }: FileUpdateOptions,
  ): Promise<FileUpdate> {
    const known = record && (await this.#intactCopy(target, record, verify));
    // A shorter file would pass for the whole one, once it is the copy that is offered.
    if (!known && record && size < record.bytes) return { state: "uncopied", copy: null, why: null };
    if (!known) return { state: "copied", copy: this.#noted(target, await copyWhole(source, target)) };
    const before = this.#changed.get(target);
    const isSame = before?.sha256 === record.sha256;
    if (isSame && before.isTold && !verify && !final)
      return { state: "changed", copy: null, why: before.why, isNew: false };
    const grown = size < known.bytes ? null : await appendTail(source, target, known);
    const whole = grown && final ? await hashPrefix(source, grown.bytes) : null;
    if (grown && (!final || (whole && digestOfCopy(whole) === digestOfCopy(grown)))) {
      this.#changed.delete(target);
      return { state: "copied", copy: this.#noted(target, grown) };
    }
    const gone = await goneFrom({ copy: target, bytes: known.bytes, transcript: source }, judge.read);
    if (await judge.isTakenBack(gone)) {
      this.#changed.delete(target);
      await rename(target, `${target}.before`);
      return { state: "taken-back", copy: this.#noted(target, await copyWhole(source, target)) };
    }
    const why = changedBecause(gone);
    const copy = grown && this.#noted(target, grown);
    // A program that is about to write why it took lines back is given until the next look.
    const isTold = final || isSame;
    this.#changed.set(target, { sha256: copy?.sha256 ?? record.sha256, why, isTold });
    return { state: "changed", copy, why, isNew: isTold && !(isSame && before.isTold) };
  }

  /** Compares a file with its copy. One that was not modified since it was compared before is not read again, unless `thorough`. */
  async compare(
    { source, target, record }: KeptFile,
    { judge, thorough }: Pick<FileUpdateOptions, "judge"> & { thorough: boolean },
  ): Promise<Comparison> {
    if (record === null || (!thorough && isSourceUnchanged(record, source))) return { state: "same" };
    const copy = await hashPrefix(source, record.bytes);
    if (copy && digestOfCopy(copy) === record.sha256) return { state: "same" };
    if ((await this.intact(target, record)) === null) return { state: "changed", why: changedBecause(null) };
    const gone = await goneFrom({ copy: target, bytes: record.bytes, transcript: source }, judge.read);
    if (await judge.isTakenBack(gone)) return { state: "taken-back" };
    return { state: "changed", why: changedBecause(gone) };
  }

  /** Reads the whole copy; null if it is not what was copied. */
  async intact(target: string, { bytes, sha256 }: FileCopy): Promise<Copy | null> {
    try {
      const copy = await hashPrefix(target, bytes);
      return copy && digestOfCopy(copy) === sha256 ? copy : null;
    } catch (error) {
      if (isErrno(error, "ENOENT", "ENOTDIR", "EACCES", "EIO")) return null;
      throw error;
    }
  }

  /** Tells whether the copy of an unchanged file is still there: by its size, or by reading it. */
  async #isThere(target: string, record: FileCopy, { verify }: Pick<FileUpdateOptions, "verify">): Promise<boolean> {
    if (verify) return (await this.intact(target, record)) !== null;
    return (sizeOf(target) ?? -1) >= record.bytes;
  }

  /** Returns the copy from its running hash, or by reading it; null for one that is not intact and has to be made again. */
  async #intactCopy(target: string, record: FileCopy, verify: boolean): Promise<Copy | null> {
    const copy = this.#copies.get(target);
    const isKnown = copy?.bytes === record.bytes && digestOfCopy(copy) === record.sha256;
    return isKnown && (await this.#isThere(target, record, { verify })) ? copy : this.intact(target, record);
  }

  #noted(target: string, copy: Copy): FileCopy {
    this.#copies.set(target, copy);
    return { bytes: copy.bytes, sha256: digestOfCopy(copy), sourceBytes: 0, sourceChanged: "" };
  }
}

/** Says what is wrong with a transcript that does not begin with its copy, so that somebody can tell what is missing. */
function changedBecause(gone: Gone | null): string {
  const count = gone?.count ?? 0;
  if (count === 0) return "its beginning was changed";
  return `its beginning was changed: ${count} of the lines that it had ${count === 1 ? "is" : "are"} gone`;
}
