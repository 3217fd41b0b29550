import { closeSync, fstatSync, readSync } from "node:fs";
import { CONVERSATION_NAME_BYTES } from "../../limits/index.ts";
import { openIfReadable } from "../../state/bounded-read.ts";
import type { Environment } from "../../util/environment.ts";
import { parseObject, textOf } from "../../util/fields.ts";
import { MODEL_PROVIDER_VARIABLE } from "../shared/model-providers.ts";
import type { VendorEnvironment, VendorProgram } from "../shared/program.ts";

const piEnvironment: VendorEnvironment = {
  recorded: [/^PI_[A-Z0-9_]+$/, MODEL_PROVIDER_VARIABLE],
  // Every start sets these again, for the worker that it starts; the scope is the user's own.
  session: [/^PI_INTERCOM_(?!SCOPE_ID$)/],
  privateNames: [
    "AI_AGENT",
    "PI_CODING_AGENT",
    "PI_SESSION_ID",
    "PI_SESSION_FILE",
    "PI_PROVIDER",
    "PI_MODEL",
    "PI_REASONING_LEVEL",
  ],
};

export const piProgram: VendorProgram = {
  vendor: "pi",
  program: "pi",
  chain: 1,
  package: "@earendil-works/pi-coding-agent",
  conversationName,
  environment: piEnvironment,
};

/** Reads the name from the conversation's file, which pi tells its commands: the last one counts, and an empty one takes it back. */
function conversationName({ PI_SESSION_FILE: file }: Environment): string | null {
  const opened = file ? openIfReadable(file) : null;
  if (opened === null) return null;
  try {
    const { size } = fstatSync(opened);
    const from = Math.max(0, size - CONVERSATION_NAME_BYTES);
    const bytes = Buffer.alloc(size - from);
    const lines = bytes.toString("utf8", 0, readSync(opened, bytes, 0, bytes.length, from)).split("\n");
    const isNaming = (line: string): boolean => line.includes(NAMING) && parseObject(line)?.type === NAMING;
    return textOf(parseObject(lines.findLast(isNaming) ?? "")?.name)?.trim() || null;
  } finally {
    closeSync(opened);
  }
}

const NAMING = "session_info";
