import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { HOOK_TEXT_BYTES_MAX } from "../../limits/index.ts";
import { statIfThere } from "../../state/files.ts";
import type { DeliveryFacet } from "../delivery.ts";
import { contextOf } from "../shared/hook-delivery.ts";

/** The file of the run's folder in which a qwen in a terminal looks for what it is to be told. */
export const INPUT_FILE = "input.jsonl";

/**
 * Qwen has claude's hooks, but adds their text to what the user says, or to what a tool has put out, and tells its model that it is not
 * the user's. Idle, it takes what is appended to a file for what its user says. The same file takes answers to its questions, each under
 * an id that qwen tells to nobody but an output of the user's; there is no file of ours then. The reason with which a hook keeps a turn
 * from ending is in no transcript, so a later run would not know it: mail for the end of a turn waits until qwen is idle.
 */
export const qwenDelivery: DeliveryFacet = {
  hooks: {
    prompt: contextOf("UserPromptSubmit", false),
    tool: { ...contextOf("PostToolUse", false), bytesMax: HOOK_TEXT_BYTES_MAX },
  },
  wake: {
    name: "input file",
    isPrivileged: false,
    wake: async (text, { runDir }) => {
      const file = join(runDir, INPUT_FILE);
      if (statIfThere(file)?.isFile() !== true) return false;
      await appendFile(file, `${JSON.stringify({ type: "submit", text })}\n`, { mode: 0o600 });
      return true;
    },
  },
  readsMentions: true,
  toldIn: (line) => (/"type":"(?:user|tool_result)"/.test(line) ? line : ""),
};
