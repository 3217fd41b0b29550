import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PIECE_FILE_BYTES_MAX } from "../../limits/index.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import { isErrno } from "../../state/files.ts";
import { fieldsOf, parseObject, textOf } from "../../util/fields.ts";
import {
  MAIL_FAILED_FILE,
  MAIL_SESSION_FILE,
  MAIL_SHOWN_FILE,
  TAKEN_PREFIX,
  WAITING_MAIL,
} from "../../vendors/index.ts";

/** Messages that are put before a model in one text. */
export interface Piece {
  /** Stands in the text, and was drawn for this piece: where the vendor shows it, the model has got the text. */
  mark: string;
  /** The ids of the messages. */
  ids: string[];
  /** The ids among them that a hook only announces, by its word. */
  onlyAnnounced: Readonly<Record<string, readonly string[]>>;
  /** The bytes of the conversation's transcript when the piece was made: the mark can only stand behind them. */
  transcriptBytes: number;
  /** The channel by which the program is woken with it, for people. */
  channel?: string;
  /** The lines of the text with which the program is woken. */
  lines?: number;
}

/** A piece that was handed to the agent; the folder in which it is on record is its receipt. */
export interface TakenPiece extends Piece {
  folder: string;
  /** The hook that took it, by its word, or WOKEN or CALLED. */
  by: string;
  /** The conversation it was handed to. */
  session: string;
}

/** Makes a mark that nobody can have written before. */
export function newMark(): string {
  return `m-${randomBytes(8).toString("hex")}`;
}

/** The word of a piece that no hook took, but that the program was woken with. */
export const WOKEN = "wake";

/** The word of a piece that the model got as the answer to a tool that it called. */
export const CALLED = "call";

// A piece is a folder in the run's folder. One that waits for a hook has a fixed name; the hook, or the daemon that takes it back,
// renames it, which only one of them can do. Everything that has been handed over and is not settled lies there, for the next daemon.

/** Leaves a piece for the next hook of the conversation, with the text in the form of each hook that may take it. */
export function layOut(runDir: string, session: string, piece: Piece, forms: Readonly<Record<string, string>>): void {
  const draft = join(runDir, DRAFT);
  write(draft, piece, { ...forms, [MAIL_SESSION_FILE]: session });
  renameSync(draft, join(runDir, WAITING_MAIL));
}

/** Takes the waiting piece back; false if there is none any more, because a hook has taken it. */
export function takeBack(runDir: string): boolean {
  const withdrawn = join(runDir, WITHDRAWN);
  rmSync(withdrawn, { recursive: true, force: true });
  try {
    renameSync(join(runDir, WAITING_MAIL), withdrawn);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return false;
    throw error;
  }
  rmSync(withdrawn, { recursive: true, force: true });
  return true;
}

/** Puts on record that the program is about to be woken with the piece. */
export function recordWake(runDir: string, session: string, piece: Piece): TakenPiece {
  return recordHandOver(runDir, session, piece, WOKEN);
}

/** Messages in the answer of a tool. */
export interface ToolPiece {
  /** Has to stand in the answer: where the vendor shows it, the model has got the messages. */
  mark: string;
  /** Puts on record that the answer has left. */
  answered(): void;
}

/** Makes a piece for a tool's answer; the listener is called when that has left. */
export function toolPieceOf(runDir: string, session: string, piece: Piece, onAnswered: () => void): ToolPiece {
  const answered = (): void => {
    recordHandOver(runDir, session, piece, CALLED);
    onAnswered();
  };
  return { mark: piece.mark, answered };
}

/** Puts on record that the program was given the piece, in another way than by a hook. */
function recordHandOver(runDir: string, session: string, piece: Piece, by: typeof WOKEN | typeof CALLED): TakenPiece {
  const folder = join(runDir, `${TAKEN_PREFIX}${by}.${piece.mark}`);
  write(folder, piece, { [MAIL_SESSION_FILE]: session });
  return { ...piece, folder, by, session };
}

/** Returns the pieces that were handed over and are not settled. What is none is removed: the agent can write here, too. */
export function takenPieces(runDir: string): TakenPiece[] {
  return namesIn(runDir)
    .filter((name) => name.startsWith(TAKEN_PREFIX))
    .toSorted()
    .flatMap((name) => {
      const folder = join(runDir, name);
      const piece = readPiece(folder);
      if (piece === null) rmSync(folder, { recursive: true, force: true });
      const session = readIfReadable(join(folder, MAIL_SESSION_FILE), PIECE_FILE_BYTES_MAX);
      const by = name.slice(TAKEN_PREFIX.length).split(".")[0] ?? "";
      return piece === null ? [] : [{ ...piece, folder, by, session }];
    });
}

/** Tells whether a piece only made the program begin a turn: its mail waits for a hook. */
export function isNudge({ by, ids }: TakenPiece): boolean {
  return by === WOKEN && ids.length === 0;
}

/** Tells whether somebody who has put the piece into the conversation has seen it there. */
export function isShown({ folder }: Pick<TakenPiece, "folder">): boolean {
  return existsSync(join(folder, MAIL_SHOWN_FILE));
}

/** Returns why the piece was not handed over by whoever took it; null if nothing is known of that. */
export function failureOf({ folder }: Pick<TakenPiece, "folder">): string | null {
  return readIfReadable(join(folder, MAIL_FAILED_FILE), PIECE_FILE_BYTES_MAX) || null;
}

/** Removes the record of a piece that is settled. */
export function forgetPiece({ folder }: Pick<TakenPiece, "folder">): void {
  rmSync(folder, { recursive: true, force: true });
}

const PIECE_FILE = "piece.json";
const DRAFT = `.${WAITING_MAIL}.draft`;
const WITHDRAWN = `.${WAITING_MAIL}.withdrawn`;

function write(folder: string, piece: Piece, files: Readonly<Record<string, string>>): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  const texts = { ...files, [PIECE_FILE]: JSON.stringify(piece) };
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text, { mode: 0o600 });
}

function readPiece(folder: string): Piece | null {
  const fields = parseObject(readIfReadable(join(folder, PIECE_FILE), PIECE_FILE_BYTES_MAX));
  const mark = textOf(fields?.mark);
  const { ids, transcriptBytes } = fields ?? {};
  if (mark === null || !Array.isArray(ids) || typeof transcriptBytes !== "number") return null;
  const channel = textOf(fields?.channel);
  const lines = fields?.lines;
  const announced = Object.entries(fieldsOf(fields?.onlyAnnounced)).map(([word, each]) => [word, stringsOf(each)]);
  const onlyAnnounced = Object.fromEntries(announced) as Piece["onlyAnnounced"];
  const piece = { mark, ids: stringsOf(ids), onlyAnnounced, transcriptBytes };
  return { ...piece, ...(channel === null ? {} : { channel }), ...(typeof lines === "number" ? { lines } : {}) };
}

function stringsOf(values: unknown): string[] {
  return Array.isArray(values) ? values.filter((value) => typeof value === "string") : [];
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR", "ELOOP")) return [];
    throw error;
  }
}
