import { closeSync, fstatSync, readSync } from "node:fs";
import { AGENT_LOG_BYTES_MAX, AGENT_LOG_OVERLAP_BYTES, TRANSCRIPT_READ_BYTES } from "../../limits/index.ts";
import { openIfReadable } from "../../state/bounded-read.ts";

const SAYS = "Registering foreground session: ";
const LINE = new RegExp(`^\\S+Z \\[INFO\\] ${SAYS}([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$`, "gm");

/**
 * Returns the conversation that was in front last, by a process's own log, read from its end. Null when it does not
 * tell: without a terminal, with the log turned down, or so long ago that nobody would look for it every second.
 */
export function foregroundIn(log: string): string | null {
  // A file that cannot be read belongs to another user.
  const file = openIfReadable(log);
  if (file === null) return null;
  try {
    const { size } = fstatSync(file);
    const until = Math.max(0, size - AGENT_LOG_BYTES_MAX);
    const buffer = Buffer.alloc(TRANSCRIPT_READ_BYTES);
    for (let end = size; end > until;) {
      const from = Math.max(until, end - buffer.length);
      const part = buffer.subarray(0, readSync(file, buffer, 0, end - from, from));
      const found = part.includes(SAYS) ? [...part.toString("latin1").matchAll(LINE)].at(-1)?.[1] : undefined;
      if (found !== undefined) return found;
      end = from === until ? until : from + AGENT_LOG_OVERLAP_BYTES;
    }
    return null;
  } finally {
    closeSync(file);
  }
}
