import { join } from "node:path";
import { BRANCH_DEPTH_MAX, TRANSCRIPT_READ_BYTES } from "../../limits/index.ts";
import type { FoundConversation, SessionLocation, Transcript } from "../../protocol/records/conversation.ts";
import { statIfThere } from "../../state/files.ts";
import { openRegular } from "../../state/open-regular.ts";
import { fieldsOf, parseObject, textOf } from "../../util/fields.ts";
import type { WrittenTurn } from "../adapter.ts";
import { errorOn } from "../shared/blocked-exit.ts";
import { findFile, findFiles } from "../shared/find-file.ts";
import { listTranscripts, wordsIn } from "../shared/listing.ts";
import { probeLines, readPart, type TranscriptForm, type TranscriptLine } from "../shared/transcript.ts";
import { codexScreen } from "./screen.ts";

// A transcript is `sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`. When its user rewinds a conversation, codex leaves that file
// as it is and goes on in another one, `rollout-<time>-<id>_<another id>.jsonl`, which says up to where the one before it counts.

/**
 * The id of a conversation carries its time, but folders go by local dates, so all are searched for the id. The first file stands for
 * the conversation, and all that was written to it is its size: it grows by a rewind, too, and is shorter when any of its files is lost.
 */
export async function probeCodex({ id, configDir }: SessionLocation, lastSeen: string | null): Promise<Transcript> {
  const sessions = join(configDir, "sessions");
  const known = lastSeen === null ? null : await probeFile(lastSeen, id);
  const found = known !== null && known.state !== "absent" ? known : await probeFirst(sessions, id);
  if (found.state !== "good") return found;
  const bytes = (await laterFiles({ id, configDir })).reduce(
    (sum, file) => sum + (statIfThere(file)?.size ?? 0),
    found.bytes,
  );
  const lacks = await missingStem(configDir, found.file, id);
  if (lacks === null) return { ...found, bytes };
  const why = `the conversation ${lacks}, which it is a branch of, is gone`;
  return { state: "damaged", file: found.file, bytes, why, lacks };
}

/** Finds the files in which a conversation goes on after its user has rewound it, in the order of their times. */
export function laterFiles({ id, configDir }: Pick<SessionLocation, "id" | "configDir">): Promise<string[]> {
  const isIt = (name: string): boolean => name.includes(`-${id}_`) && sessionOfFile(name) === id;
  return findFiles(join(configDir, "sessions"), 3, isIt);
}

/**
 * Returns the conversation that is gone among those that a branch refers to for what was said before it, and without which codex
 * refuses it; null if all are there. Codex finds an archived one, too.
 */
async function missingStem(configDir: string, file: string, id: string): Promise<string | null> {
  const seen = new Set([id]);
  let stem = await stemOf(file);
  while (stem !== null && !seen.has(stem) && seen.size <= BRANCH_DEPTH_MAX) {
    seen.add(stem);
    const name = `-${stem}.jsonl`;
    const isIt = (each: string): boolean => each.startsWith("rollout-") && each.endsWith(name);
    const found =
      (await findFile(join(configDir, "sessions"), 3, isIt)) ??
      (await findFile(join(configDir, "archived_sessions"), 0, isIt));
    if (found === null) return stem;
    stem = await stemOf(found);
  }
  return null;
}

/** Returns the conversation that the first line of a file refers to; null if it refers to none, or cannot be read. */
async function stemOf(file: string): Promise<string | null> {
  const handle = await openRegular(file);
  try {
    const [line = ""] = (await readPart(handle, 0, TRANSCRIPT_READ_BYTES)).split("\n", 1);
    const { history_base: base } = fieldsOf(parseObject(line)?.payload);
    return textOf(fieldsOf(base).thread_id);
  } finally {
    await handle.close();
  }
}

async function probeFirst(sessions: string, id: string): Promise<Transcript> {
  const file = await findFile(sessions, 3, (name) => name.startsWith("rollout-") && name.endsWith(`-${id}.jsonl`));
  return file === null ? { state: "absent" } : probeFile(file, id);
}

function probeFile(file: string, id: string): Promise<Transcript> {
  return probeLines(file, id, FORM);
}

export function listCodex(configDir: string, limit: number): Promise<FoundConversation[]> {
  return listTranscripts({ folder: join(configDir, "sessions"), depth: 3, idOf: idOfFile, form: FORM }, limit);
}

/** `codex archive` moves a transcript, and codex resumes none from there, even if a copy is in its old place. */
export async function archivedBy({ id, configDir }: SessionLocation): Promise<string | null> {
  const file = await findFile(join(configDir, "archived_sessions"), 0, (name) => idOfFile(name) === id);
  return file === null ? null : `codex unarchive ${id}`;
}

export function configDirOfFile(transcript: string): string | null {
  return /^(.+)\/sessions\/\d+\/\d+\/\d+\/[^/]+$/.exec(transcript)?.[1] ?? null;
}

const ID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const FIRST_FILE = new RegExp(`rollout-.*-(${ID})\\.jsonl$`);
const ANY_FILE = new RegExp(`rollout-.*-(${ID})(?:_${ID})?\\.jsonl$`);

/** Returns the conversation of a transcript's first file; null for any other one. */
function idOfFile(path: string): string | null {
  return FIRST_FILE.exec(path)?.[1] ?? null;
}

/** Returns the conversation that a file is of, be it the first or a later one. */
export function sessionOfFile(path: string): string | null {
  return ANY_FILE.exec(path)?.[1] ?? null;
}

const FORM: TranscriptForm = { header: true, atBirth: true, read: readLine };

function readLine(line: Readonly<Record<string, unknown>>): TranscriptLine {
  const payload = fieldsOf(line.payload);
  const meta = line.type === "session_meta" ? payload : {};
  const userText = line.type === "response_item" && payload.role === "user" ? wordsIn(payload.content) : undefined;
  return {
    session: textOf(meta.id),
    version: textOf(meta.cli_version),
    cwd: textOf(meta.cwd) ?? undefined,
    spoken: line.type !== "session_meta" && payload.type !== "thread_settings_applied",
    // Codex's own context for the model has the same form.
    words: userText?.startsWith("<") === true ? undefined : userText,
  };
}

/** Reads the events of the rollout that frame a turn. A turn that was killed has no end. */
export function readTurn(line: Readonly<Record<string, unknown>>): WrittenTurn | null {
  const atMs = Date.parse(textOf(line.timestamp) ?? "");
  const payload = fieldsOf(line.payload);
  if (line.type !== "event_msg" || Number.isNaN(atMs)) return null;
  if (payload.type === "task_started") return { outward: { activity: "busy" }, atMs };
  if (payload.type === "turn_aborted") return { outward: { activity: "idle" }, atMs };
  if (payload.type !== "task_complete") return null;
  const words = textOf(fieldsOf(payload.error).message);
  const known = words === null ? null : errorOn(`■ ${words}`, codexScreen.blockedExit);
  return {
    outward: known ? { activity: "blocked", blocked: known.kind, words: known.line } : { activity: "idle" },
    atMs,
    said: textOf(payload.last_agent_message) ?? undefined,
  };
}
