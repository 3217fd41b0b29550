import { join } from "node:path";
import { VENDOR_FILE_BYTES_MAX } from "../../limits/index.ts";
import type { FoundConversation, SessionLocation, Transcript } from "../../protocol/records/conversation.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import { fieldsOf, parseObject, textOf } from "../../util/fields.ts";
import { findFile } from "../shared/find-file.ts";
import { listTranscripts, wordsIn } from "../shared/listing.ts";
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
