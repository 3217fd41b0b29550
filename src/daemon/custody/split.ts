import { join } from "node:path";
import { SPLIT_READ_BYTES_MAX } from "../../limits/index.ts";
import { fileNameOf } from "../../protocol/foreign-id.ts";
import type { Gap, Split } from "../../protocol/records/conversation.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import { parsedLinesOf } from "../../state/parsed-lines.ts";
import { lastEntryOfConversation, type Conversation } from "../../store/conversations.ts";
import { parseObject } from "../../util/fields.ts";
import { Semaphore } from "../../util/semaphore.ts";
import { adapterOf } from "../../vendors/index.ts";
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
    const lines = await parsedLinesOf(file, SPLIT_READ_BYTES_MAX, parseObject);
    return { split: reader.find(lines, own), gap: reader.findGap(lines, own) };
  });
}

/** Returns the transcript with the worker's own side alone; null if it is not split. */
export async function ownBranchOf(services: SplitServices, conversation: Conversation): Promise<string | null> {
  const reader = adapterOf(conversation.vendor)?.storage.split;
  if (!reader || conversation.transcript === null) return null;
  if ((await inspectTree(services, conversation, conversation.transcript)).split === null) return null;
  const text = readIfReadable(conversation.transcript, SPLIT_READ_BYTES_MAX);
  return reader.keepOwn(text, ownMarksOf(services, conversation));
}

function ownMarksOf(
  { db, paths }: SplitServices,
  { id, ownPrompts }: Conversation,
): { prompts: readonly string[]; runDir: string | null } {
  const entry = lastEntryOfConversation(db, id);
  return { prompts: ownPrompts, runDir: entry && join(paths.runs, fileNameOf(entry.runId)) };
}
