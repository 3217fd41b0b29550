import { fieldsOf, textOf } from "../../util/fields.ts";
import { sha256 } from "../../util/sha256.ts";
import { wordsIn } from "../shared/listing.ts";
import { excerptOf, splitReader, type Line, type OwnMarks, type TreeEntry } from "../shared/split.ts";

/** Finds splits by the entries' parents. Qwen goes on from the last entry, whoever wrote it. */
export const qwenSplit = splitReader({
  read(line, own) {
    const entry = entryOf(line, own);
    return entry && { entry };
  },
  entryIdOf: (line) => textOf(line.uuid),
});

/** Qwen numbers no prompts, so a prompt is known by its text, of which no more than a hash is kept. */
export function promptMark(text: unknown): string | undefined {
  const prompt = textOf(text)?.trim();
  return prompt === undefined ? undefined : sha256(prompt);
}

function entryOf(line: Line, { prompts }: OwnMarks): TreeEntry | null {
  const id = textOf(line.uuid);
  if (id === null) return null;
  const { parts } = fieldsOf(line.message);
  const spoken = line.type === "user" || line.type === "assistant";
  const words = spoken ? excerptOf(wordsIn(parts)) : null;
  // A hook may have added a part of its own behind the prompt.
  const prompt = Array.isArray(parts) ? wordsIn(parts.slice(0, 1)) : undefined;
  const own = line.type === "user" && prompts.includes(promptMark(prompt) ?? "");
  return { id, parent: textOf(line.parentUuid), spoken, words, own, sumsUp: line.subtype === "chat_compression" };
}
