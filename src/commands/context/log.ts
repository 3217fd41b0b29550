import { CONTEXT_ENTRY_BYTES_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { appendEntry } from "../../project/context-entry.ts";
import { relativeTo } from "../../project/context-file.ts";
import { readUpTo } from "../../state/bounded-read.ts";
import type { Invocation } from "../shared/command.ts";
import { printable } from "../shared/output.ts";
import { locateAnchor } from "./anchor-paths.ts";
import { requireNotDisplaced } from "./displaced.ts";

const STDIN = 0;

export async function contextLog({ words, values, out }: Invocation): Promise<void> {
  const text = words.length === 1 && words[0] === "-" ? stdinText() : words.join(" ");
  const { file, root, agentId } = locateAnchor(values);
  requireNotDisplaced(agentId);
  appendEntry(root, file, text);
  out.result({ path: file }, () => printable(relativeTo(process.cwd(), file)));
}

function stdinText(): string {
  const text = readUpTo(STDIN, CONTEXT_ENTRY_BYTES_MAX);
  if (text !== null) return text;
  throw new PerdureError("usage", `The entry has more than ${CONTEXT_ENTRY_BYTES_MAX} bytes, which is the limit.`, {
    hint: "log a summary, and where the rest lies",
  });
}
