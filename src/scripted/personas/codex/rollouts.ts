import { appendFileSync, mkdirSync, openSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { isErrno, readIfThere } from "../../../state/files.ts";
import { PersonaRefusal, type ConversationStore, type ConversationTurn } from "../../persona.ts";
import { asObject, parseLine, readLines, TranscriptFile, type TranscriptFormat } from "../../transcript-file.ts";
import { isUuid, timedUuid } from "../../uuid.ts";
import type { WriterLocks } from "./locks.ts";

export const CODEX_VERSION = "0.166.0";

/** Conversations in `sessions/YYYY/MM/DD/rollout-<local time>-<uuid>.jsonl`, one writer each; an index file has their names. */
export class Rollouts implements ConversationStore {
  readonly #home: string;
  readonly #locks: WriterLocks;

  constructor(home: string, locks: WriterLocks) {
    this.#home = home;
    this.#locks = locks;
  }

  mint(): string {
    return timedUuid();
  }

  begin(id: string, cwd: string): TranscriptFile {
    this.#locks.take(id);
    return new TranscriptFile(id, this.#newFile(id), formatOf(id, cwd));
  }

  resume(id: string): TranscriptFile {
    const failed = "Error: thread/resume: thread/resume failed:";
    const file = this.find(id);
    if (file === null) throw new PersonaRefusal(`${failed} no rollout found for thread id ${id} (code -32600)`);
    this.#locks.take(id);
    const content = readIfThere(file) ?? "";
    const meta = readLines(content).find(({ type }) => type === "session_meta");
    if (asObject(meta?.payload).id !== id) {
      throw new PersonaRefusal(`${failed} failed to read thread: rollout at ${file} is empty (code -32603)`);
    }
    const turns = readLines(content).flatMap(turnOf);
    // The real codex keeps it open to the end.
    openSync(file, "r");
    return new TranscriptFile(id, file, formatOf(id, String(asObject(meta?.payload).cwd)), { turns });
  }

  find(id: string): string | null {
    return this.#files().find((file) => file.endsWith(`-${id}.jsonl`)) ?? null;
  }

  newest(): string | null {
    const files = this.#files().map((file) => ({ file, atMs: statSync(file).mtimeMs }));
    const last = files.toSorted((a, b) => a.atMs - b.atMs).at(-1)?.file;
    return last === undefined ? null : last.slice(-ID_AT, -".jsonl".length);
  }

  #files(): string[] {
    const folder = join(this.#home, "sessions");
    try {
      const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
      return files.filter((file) => file.endsWith(".jsonl")).map((file) => join(folder, file));
    } catch (error) {
      if (isErrno(error, "ENOENT")) return [];
      throw error;
    }
  }

  /** An id resolves to itself, known or not; a name to its newest conversation, or to null if no conversation has it. */
  resolve(idOrName: string): string | null {
    if (isUuid(idOrName)) return idOrName;
    const index = readIfThere(join(this.#home, INDEX)) ?? "";
    const entry = index
      .split("\n")
      .map(parseLine)
      .findLast((line) => line?.thread_name === idOrName);
    return typeof entry?.id === "string" ? entry.id : null;
  }

  name(id: string, name: string): void {
    const line = { id, thread_name: name, updated_at: new Date().toISOString() };
    mkdirSync(this.#home, { recursive: true });
    appendFileSync(join(this.#home, INDEX), `${JSON.stringify(line)}\n`);
  }

  #newFile(id: string): string {
    const now = new Date();
    const two = (value: number): string => String(value).padStart(2, "0");
    const date = [String(now.getFullYear()), two(now.getMonth() + 1), two(now.getDate())];
    const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(two);
    return join(this.#home, "sessions", ...date, `rollout-${date.join("-")}T${time.join("-")}-${id}.jsonl`);
  }
}

const INDEX = "session_index.jsonl";
/** A rollout's name ends with a UUID and `.jsonl`. */
const ID_AT = 36 + ".jsonl".length;

function formatOf(id: string, cwd: string): TranscriptFormat {
  const stamped = (type: string, payload: object): object => ({ timestamp: new Date().toISOString(), type, payload });
  return {
    opening: () => {
      const about = {
        originator: "codex_scripted",
        cli_version: CODEX_VERSION,
        source: "cli",
        model_provider: "scripted",
      };
      return [stamped("session_meta", { id, session_id: id, timestamp: new Date().toISOString(), cwd, ...about })];
    },
    line: ({ role, text }) => {
      const content = [{ type: role === "user" ? "input_text" : "output_text", text }];
      return stamped("response_item", { type: "message", role: role === "user" ? "user" : "assistant", content });
    },
  };
}

function turnOf({ type, payload }: Readonly<Record<string, unknown>>): ConversationTurn[] {
  const { role, content } = asObject(payload);
  const { text } = asObject(Array.isArray(content) ? content[0] : null);
  if (type !== "response_item" || typeof text !== "string") return [];
  if (role === "user") return [{ role: "user", text }];
  return role === "assistant" ? [{ role: "agent", text }] : [];
}
