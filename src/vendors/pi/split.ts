import { fieldsOf, textOf } from "../../util/fields.ts";
import { wordsIn } from "../shared/listing.ts";
import { excerptOf, splitReader, type Line, type OwnMarks, type TreeEntry } from "../shared/split.ts";

/** Finds splits by the entries' parents. Pi goes on from the last entry, whoever wrote it. */
export const piSplit = splitReader({
  read(line, own) {
    const entry = entryOf(line, own);
    return entry && { entry };
  },
  entryIdOf: idOf,
});

/** The header is no entry: its id is the conversation's. */
function idOf(line: Line): string | null {
  return line.type === "session" ? null : textOf(line.id);
}

/** The extension tells the entry that the worker's own process is at, so an entry is known by its id. */
function entryOf(line: Line, { prompts }: OwnMarks): TreeEntry | null {
  const id = idOf(line);
  if (id === null) return null;
  const { role, content } = fieldsOf(line.message);
  const spoken = role === "user" || role === "assistant";
  const words = spoken ? excerptOf(wordsIn(content)) : null;
  const own = prompts.includes(id);
  return { id, parent: textOf(line.parentId), spoken, words, own, sumsUp: line.type === "compaction" };
}
