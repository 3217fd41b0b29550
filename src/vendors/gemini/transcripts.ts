import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TRANSCRIPT_READ_BYTES, VENDOR_FILE_BYTES_MAX } from "../../limits/index.ts";
import type { FoundConversation, SessionLocation, Transcript } from "../../protocol/records/conversation.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import { openRegular } from "../../state/open-regular.ts";
import { fieldsOf, parseObject, textOf } from "../../util/fields.ts";
import { entriesOf } from "../shared/find-file.ts";
import { listTranscripts, wordsIn } from "../shared/listing.ts";
import { readPart, probeLines, type TranscriptLine, type TranscriptForm } from "../shared/transcript.ts";

// Transcripts are `.gemini/tmp/<project>/chats/session-<minute>-<first 8 of the id>.jsonl`. A resume in a later minute than the first start
// leaves one more file of that ending, a stub in which nothing was said, and goes on in the old one. So a file is known by
// the id in its first line, and the conversation's is the one in which something was said.

type Fields = Readonly<Record<string, unknown>>;

/** Probes the file a conversation was last seen in, or else any other of its id in which something was said. */
export async function probeGemini({ id, configDir }: SessionLocation, lastSeen: string | null): Promise<Transcript> {
  const known: Transcript = lastSeen === null ? { state: "absent" } : await probeFile(lastSeen, id);
  if (known.state === "good" || known.state === "damaged") return known;
  const found = await Promise.all((await filesOf(configDir, id)).map((file) => probeFile(file, id)));
  const good = found.filter((each) => each.state === "good");
  if (good.length > 1) return latest(good);
  // If the conversation was seen with messages before, a stub does not mean that it was never begun.
  const left = lastSeen === null ? found.find(({ state }) => state === "empty") : known;
  return good[0] ?? found.find(({ state }) => state === "damaged") ?? left ?? known;
}

async function filesOf(configDir: string, id: string): Promise<string[]> {
  const tmp = join(configDir, ".gemini", "tmp");
  const folders = (await entriesOf(tmp)).map((project) => join(tmp, project, "chats"));
  const isIt = (name: string): boolean => name.startsWith("session-") && name.endsWith(`-${id.slice(0, 8)}.jsonl`);
  const found = folders.map(async (folder) => (await entriesOf(folder)).filter(isIt).map((name) => join(folder, name)));
  return (await Promise.all(found)).flat();
}

/**
 * Two files of one id with words in both were made by somebody's hand; gemini takes the one that was written to last.
 */
async function latest(transcripts: readonly Extract<Transcript, { state: "good" }>[]): Promise<Transcript> {
  const dated = await Promise.all(transcripts.map(async (each) => ({ each, atMs: (await stat(each.file)).mtimeMs })));
  return dated.toSorted((a, b) => b.atMs - a.atMs)[0]?.each ?? { state: "absent" };
}

async function probeFile(file: string, id: string): Promise<Transcript> {
  const found = await probeLines(file, id, FORM);
  if (found.state === "empty" && (await sizeOf(file)) > TRANSCRIPT_READ_BYTES) {
    // No stub is that long: the messages are in a line that is longer than the part that is read.
    return { state: "good", file, bytes: await sizeOf(file), version: null, cwd: projectOf(file) };
  }
  if (found.state !== "good") return found;
  if (!(await isTakenBack(file))) return { ...found, cwd: projectOf(file) };
  const why = "a resume was cut short, and gemini no longer sees the earlier messages";
  return { state: "damaged", file, bytes: found.bytes, why };
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file)).size;
}

/**
 * Resumed in the minute it was begun in, gemini writes to the file itself what makes a stub otherwise: all messages are
 * set anew, to none, and a moment later to all of them. Killed in between, the first stands.
 */
async function isTakenBack(file: string): Promise<boolean> {
  const handle = await openRegular(file);
  try {
    const { size } = await handle.stat();
    const from = Math.max(0, size - TRANSCRIPT_READ_BYTES);
    for (const text of (await readPart(handle, from, size - from)).split("\n").toReversed()) {
      const line = parseObject(text);
      if (line === null && text === "") continue;
      if (line === null || isSpoken(line)) return false;
      const messages = messagesIn(line);
      if (messages !== null) return !messages.some(isSpoken);
    }
    return false;
  } finally {
    await handle.close();
  }
}

/** A file beside a project's conversations says which folder they belong to. */
function projectOf(file: string): string | undefined {
  const root = readIfReadable(join(dirname(dirname(file)), ".project_root"), VENDOR_FILE_BYTES_MAX).trim();
  return root === "" ? undefined : root;
}

export async function listGemini(configDir: string, limit: number): Promise<FoundConversation[]> {
  const folder = join(configDir, ".gemini", "tmp");
  const found = await listTranscripts({ folder, depth: 2, idOf: shortIdOf, form: FORM }, limit);
  return found.map((each) => ({ ...each, cwd: (each.file === null ? null : projectOf(each.file)) ?? null }));
}

function shortIdOf(path: string): string | null {
  return /^[^/]+\/chats\/session-[^/]*-([^/-]{1,8})\.jsonl$/.exec(path)?.[1] ?? null;
}

const FORM: TranscriptForm = { header: true, read: readLine };

/**
 * A transcript is a log of changes: `{sessionId, …}` first, then messages, and `{"$set": …}` for fields that change.
 */
function readLine(line: Fields): TranscriptLine {
  const messages = messagesIn(line) ?? [line];
  const lastUserMessage = messages.findLast((message) => message.type === "user" && isSpoken(message));
  return {
    session: textOf(line.sessionId) ?? textOf(changes(line).sessionId),
    version: null,
    spoken: messages.some(isSpoken),
    words: lastUserMessage && wordsIn(lastUserMessage.content),
  };
}

function changes(line: Fields): Fields {
  return fieldsOf(line.$set);
}

function messagesIn(line: Fields): Fields[] | null {
  const { messages } = changes(line);
  return Array.isArray(messages) ? messages.map((each: unknown): Fields => ({ ...(each as object) })) : null;
}

/** The rule of gemini itself, which resumes no conversation without such a message in it. */
function isSpoken({ type, content, toolCalls, thoughts }: Fields): boolean {
  const text = wordsIn(content)?.trim() ?? "";
  if (type === "user") return text !== "" && !/^([/?]|<session_context>|<hook_context>)/.test(text);
  return type === "gemini" && (text !== "" || !isEmpty(toolCalls) || !isEmpty(thoughts));
}

function isEmpty(value: unknown): boolean {
  return !Array.isArray(value) || value.length === 0;
}
