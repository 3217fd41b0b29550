import { join } from "node:path";
import { VENDOR_FILE_BYTES_MAX } from "../../limits/index.ts";
import type { FoundConversation, SessionLocation, Transcript } from "../../protocol/records/conversation.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import { fieldsOf, parseObject, textOf } from "../../util/fields.ts";
import type { TakesBack } from "../adapter.ts";
import { findFile } from "../shared/find-file.ts";
import { listTranscripts, wordsIn } from "../shared/listing.ts";
import { excerptOf, splitReader, type Line, type OwnMarks, type TreeEntry, type TreeLine } from "../shared/split.ts";
import { probeLines, type TranscriptLine, type TranscriptForm } from "../shared/transcript.ts";

// Transcripts are `projects/<folder it began in>/<id>.jsonl`.

/** Probes the file a conversation was last seen in, or else the one of its id below any project. */
export async function probeClaude({ id, configDir }: SessionLocation, lastSeen: string | null): Promise<Transcript> {
  const probeFile = (file: string): Promise<Transcript> => probeLines(file, id, FORM);
  const known = lastSeen === null ? null : await probeFile(lastSeen);
  if (known !== null && known.state !== "absent") return known;
  const file = await findFile(join(configDir, "projects"), 1, (name) => name === `${id}.jsonl`);
  return file === null ? { state: "absent" } : probeFile(file);
}

export function listClaude(configDir: string, limit: number): Promise<FoundConversation[]> {
  return listTranscripts({ folder: join(configDir, "projects"), depth: 1, idOf: idOfFile, form: FORM }, limit);
}

/** Returns the days after which claude deletes a conversation: thirty, unless the user's settings say otherwise. */
export function sweepsAfterDays(configDir: string): number | null {
  const settings = parseObject(readIfReadable(join(configDir, "settings.json"), VENDOR_FILE_BYTES_MAX));
  const days = settings?.cleanupPeriodDays;
  return typeof days === "number" ? days : 30;
}

function idOfFile(path: string): string | null {
  return /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/.exec(path)?.[1] ?? null;
}

const FORM: TranscriptForm = { header: false, read: readLine };

/** Claude that is killed in its first moments leaves a title and nothing said, which it will not resume. */
function readLine(line: Readonly<Record<string, unknown>>): TranscriptLine {
  const message = fieldsOf(line.message);
  const userText = line.type === "user" && line.isMeta !== true ? wordsIn(message.content) : undefined;
  return {
    session: textOf(line.sessionId),
    version: textOf(line.version),
    seenIn: textOf(line.cwd) ?? undefined,
    spoken: "uuid" in line,
    // The result of a tool has the same form, and is not text.
    words: userText?.startsWith("<") === true ? undefined : userText,
  };
}

/** Finds splits by the entries' parents; lines about an entry (a checkpoint, a snapshot) go with it. */
export const claudeSplit = splitReader({
  read(line, own) {
    const leaf = line.type === "last-prompt" ? textOf(line.leafUuid) : null;
    if (leaf !== null) return { entry: null, checkpoint: { leaf, isExplicit: line.explicit === true } };
    const entry = entryOf(line, own);
    return entry && { entry };
  },
  entryIdOf: (line) => textOf(line.uuid) ?? textOf(line.leafUuid) ?? textOf(line.messageId),
  resumedOf,
});

/**
 * Claude goes on from the last entry, unless that does not follow the last checkpoint, which each process writes when it leaves: then it
 * goes on from the checkpoint.
 */
function resumedOf(lines: readonly TreeLine[], entries: readonly TreeEntry[]): string | null {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const last = entries.at(-1)?.id ?? null;
  const checkpoint = lines.findLast((line) => line.checkpoint !== undefined)?.checkpoint;
  if (checkpoint === undefined || !byId.has(checkpoint.leaf)) return last;
  const seen = new Set<string>();
  for (let id = last; id !== null && !seen.has(id); id = byId.get(id)?.parent ?? null) seen.add(id);
  return !checkpoint.isExplicit && seen.has(checkpoint.leaf) ? last : checkpoint.leaf;
}

/** A subagent's entries are no part of the conversation. A compaction begins a tree of its own, and names what it follows. */
function entryOf(line: Line, { prompts, runDir }: OwnMarks): TreeEntry | null {
  const id = textOf(line.uuid);
  if (id === null || line.isSidechain === true) return null;
  const spoken = line.type === "user" || line.type === "assistant";
  const kept = fieldsOf(fieldsOf(line.compactMetadata).preservedMessages).allUuids;
  const hooks = JSON.stringify(line.hookInfos ?? null);
  return {
    id,
    parent: textOf(line.parentUuid) ?? textOf(line.logicalParentUuid),
    ...(Array.isArray(kept) && { includes: kept.filter((each) => typeof each === "string") }),
    sumsUp: textOf(line.parentUuid) === null,
    spoken,
    words: spoken ? excerptOf(wordsIn(fieldsOf(line.message).content)) : null,
    own: prompts.includes(textOf(line.promptId) ?? "") || (runDir !== null && hooks.includes(`${runDir}/hook`)),
  };
}

/** Claude takes out of a transcript what its next resume does not need. */
export const claudeTakesBack: TakesBack = {
  read: ({ type, uuid, parentUuid, timestamp, compactMetadata, message }) => ({
    type,
    uuid,
    parentUuid,
    timestamp,
    isBoundary: compactMetadata !== undefined,
    isResult: isToolResult(message),
  }),
  judge: isUnneeded,
};

/**
 * Tells whether nothing that is left follows an entry that is gone, and each of these was said before the last compaction (claude may
 * be told to take such out of a long transcript), or is a part of an answer (claude takes back one that broke off, and asks again:
 * where nothing was said since, somebody else has cut it off).
 */
function isUnneeded(gone: readonly Line[], left: readonly Line[]): boolean {
  const parents = new Set(left.map(({ parentUuid }) => parentUuid));
  const hasGoneOn = left.some(({ uuid }) => textOf(uuid) !== null);
  const boundary = textOf(left.findLast(({ isBoundary }) => isBoundary === true)?.timestamp) ?? "";
  return gone.every(({ type, uuid, timestamp, isResult }) => {
    // Lines without an id are about the conversation, and the last one of a kind counts.
    if (textOf(uuid) === null) return true;
    if (parents.has(uuid)) return false;
    return (textOf(timestamp) ?? "~") < boundary || (hasGoneOn && (type === "assistant" || isResult === true));
  });
}

function isToolResult(message: unknown): boolean {
  const { content } = fieldsOf(message);
  return Array.isArray(content) && content.some((part) => fieldsOf(part).type === "tool_result");
}
