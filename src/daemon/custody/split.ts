import { join } from "node:path";
import { SPLIT_READ_BYTES_MAX } from "../../limits/index.ts";
import { fileNameOf } from "../../protocol/foreign-id.ts";
import type { Gap, Split } from "../../protocol/records/conversation.ts";
import { filterLines } from "../../state/filter-lines.ts";
import { parsedLinesOf } from "../../state/parsed-lines.ts";
import { lastEntryOfConversation, type Conversation } from "../../store/conversations.ts";
import { parseObject } from "../../util/fields.ts";
import { Semaphore } from "../../util/semaphore.ts";
import { adapterOf } from "../../vendors/index.ts";
import type { OwnMarks, SplitReader, TreeLine } from "../../vendors/shared/split.ts";
import type { BaseServices } from "../base-services.ts";

type SplitServices = Pick<BaseServices, "db" | "paths">;

/** Module state, because it is about the machine's memory: a fleet that starts together has its transcripts read one by one. */
const reading = new Semaphore(1);

/** The findings in a transcript that is a tree: what the next resume would leave out of the worker's own turns. */
interface TreeFindings {
  split: Split | null;
  gap: Gap | null;
}

/** Finds out whether the vendor would resume this transcript without turns of the worker's own. */
export async function inspectTree(
  services: SplitServices,
  conversation: Conversation,
  file: string,
): Promise<TreeFindings> {
  const reader = adapterOf(conversation.vendor)?.storage.split;
  // Without a prompt of the worker's own there is nothing to lose.
  if (!reader || conversation.ownPrompts.length === 0) return { split: null, gap: null };
  const own = ownMarksOf(services, conversation);
  return reading.run(async () => {
    const lines = await treeLinesOf(file, reader, own);
    return { split: reader.find(lines), gap: reader.findGap(lines) };
  });
}

/** Writes the transcript with the worker's own side alone to a new file; false, and no file, if it is not split. */
export async function writeOwnBranch(
  services: SplitServices,
  conversation: Conversation,
  target: string,
): Promise<boolean> {
  const reader = adapterOf(conversation.vendor)?.storage.split;
  const { transcript } = conversation;
  if (!reader || transcript === null || conversation.ownPrompts.length === 0) return false;
  const own = ownMarksOf(services, conversation);
  const isBeside = await reading.run(async () => reader.besideOwn(await treeLinesOf(transcript, reader, own)));
  if (isBeside === null) return false;
  const isKept = (line: Buffer): boolean => {
    const fields = parseObject(line.toString("utf8"));
    return fields === null || !isBeside(fields);
  };
  await filterLines(transcript, target, isKept);
  return true;
}

function treeLinesOf(file: string, reader: SplitReader, own: OwnMarks): Promise<TreeLine[]> {
  return parsedLinesOf(file, SPLIT_READ_BYTES_MAX, (text) => {
    const line = parseObject(text);
    return line && reader.read(line, own);
  });
}

function ownMarksOf({ db, paths }: SplitServices, { id, ownPrompts }: Conversation): OwnMarks {
  const entry = lastEntryOfConversation(db, id);
  return { prompts: ownPrompts, runDir: entry && join(paths.runs, fileNameOf(entry.runId)) };
}
