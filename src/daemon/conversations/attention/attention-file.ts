import { RUN_FILE_BYTES_MAX } from "../../../limits/index.ts";
import { join } from "node:path";
import type { Attention } from "../../../core/attention.ts";
import { readIfReadable } from "../../../state/bounded-read.ts";
import { writeFileAtomic } from "../../../state/files.ts";
import { parseObject, textOf } from "../../../util/fields.ts";

const ATTENTION_FILE = "attention.json";

/** Saves what is known of a run in its folder: the hooks that told it are gone when another daemon follows the run. */
export function saveAttention(runDir: string, attention: Attention): void {
  const { activity, reason, words, unrecorded, source, hasWorked } = attention;
  const saved = { activity, reason, words, unrecorded, source, hasWorked };
  writeFileAtomic(join(runDir, ATTENTION_FILE), `${JSON.stringify(saved)}\n`);
}

/** Reads what an earlier daemon knew of a run; null when it saved nothing. */
export function savedAttention(runDir: string, nowMs: number): Attention | null {
  const saved = parseObject(readIfReadable(join(runDir, ATTENTION_FILE), RUN_FILE_BYTES_MAX) ?? "");
  if (saved === null) return null;
  return {
    activity: oneOf(saved.activity, ["idle", "busy", "blocked"]),
    reason: oneOf(saved.reason, ["permission", "question", "trust", "login", "limit"]),
    words: textOf(saved.words),
    unrecorded: textOf(saved.unrecorded),
    source: oneOf(saved.source, ["agent", "title", "screen"]),
    reportedAtMs: saved.source === "agent" ? nowMs : null,
    hasWorked: saved.hasWorked === true,
  };
}

function oneOf<T extends string>(value: unknown, known: readonly T[]): T | null {
  return known.find((each) => each === value) ?? null;
}
