import { appendFileSync, existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { OpenConversation, ConversationTurn } from "./persona.ts";

type JsonLine = Readonly<Record<string, unknown>>;

/** How a vendor writes a conversation down. */
export interface TranscriptFormat {
  /** The lines before the first turn. */
  opening(): object[];
  line(turn: ConversationTurn, cwd: string): object;
  /** The line of what a hook has added. */
  attachment?(text: string, cwd: string): object;
  /** The line of what waits for its turn, and is not said yet. */
  queued?(text: string): object;
}

/** A conversation's file of JSON lines: it does not exist before the first prompt, and only grows. */
export class TranscriptFile implements OpenConversation {
  readonly id: string;
  readonly file: string;
  readonly name: string | null;
  readonly turns: ConversationTurn[];
  readonly #format: TranscriptFormat;

  constructor(
    id: string,
    file: string,
    format: TranscriptFormat,
    earlier: { turns?: ConversationTurn[]; name?: string | null } = {},
  ) {
    this.id = id;
    this.file = file;
    this.name = earlier.name ?? null;
    this.turns = earlier.turns ?? [];
    this.#format = format;
  }

  append(turn: ConversationTurn, cwd: string): void {
    this.open();
    appendFileSync(this.file, text([this.#format.line(turn, cwd)]));
    this.turns.push(turn);
  }

  attach(added: string, cwd: string): void {
    const line = this.#format.attachment?.(added, cwd);
    if (line === undefined) return;
    this.open();
    appendFileSync(this.file, text([line]));
  }

  queue(waiting: string): void {
    const line = this.#format.queued?.(waiting);
    if (line === undefined) return;
    this.open();
    appendFileSync(this.file, text([line]));
  }

  /** Writes the opening lines, unless there is a file. */
  open(): void {
    if (existsSync(this.file)) return;
    mkdirSync(dirname(this.file), { recursive: true });
    appendFileSync(this.file, text(this.#format.opening()));
  }
}

/** The lines that can be parsed; a damaged one, or one that a kill cut off, is left out. */
export function readLines(content: string): JsonLine[] {
  return content.split("\n").flatMap((line) => {
    const value = parseLine(line);
    return value === null ? [] : [value];
  });
}

export function parseLine(line: string): JsonLine | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? { ...value } : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

export function asObject(value: unknown): JsonLine {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function text(lines: object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}
