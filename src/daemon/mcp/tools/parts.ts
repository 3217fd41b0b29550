import { TOOL_MAIL_BYTES_MAX } from "../../../limits/index.ts";

// Agents' programs show their model only so much of what a tool returns, and some leave out the rest without a word that would reach us.

/** Returns the bytes of a text in an answer, which is JSON: a control character takes six. */
function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}

/**
 * Divides the text of a message into parts that an answer can hold. It is always divided the same way, so that nobody has to remember
 * what an agent has got; at the end of a line where there is one, and never inside a character.
 */
export function partsOf(text: string, bytesMax = TOOL_MAIL_BYTES_MAX): string[] {
  const parts: string[] = [];
  let rest = text;
  while (jsonBytes(rest) > bytesMax) {
    const end = endOfPart(rest, bytesMax);
    parts.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...parts, rest];
}

function endOfPart(text: string, bytesMax: number): number {
  let [end, bytes] = [0, 0];
  // A character takes at least one byte, so no more of the text can be in the part.
  for (const character of text.slice(0, bytesMax)) {
    bytes += jsonBytes(character);
    if (bytes > bytesMax) break;
    end += character.length;
  }
  const line = text.lastIndexOf("\n", end - 1) + 1;
  return line > end / 2 ? line : Math.max(end, 1);
}
