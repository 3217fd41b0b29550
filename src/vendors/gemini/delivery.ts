import { HOOK_TEXT_BYTES_MAX } from "../../limits/index.ts";
import { parseObject } from "../../util/fields.ts";
import type { DeliveryFacet } from "../delivery.ts";
import { composerOf } from "../shared/composer.ts";
import { blockOf, contextOf } from "../shared/hook-delivery.ts";

/**
 * Gemini adds the text of its hooks to what the user says, or to what a tool has put out, and tells its model that such text is no
 * order. Nothing wakes it but its terminal.
 */
export const geminiDelivery: DeliveryFacet = {
  hooks: {
    prompt: contextOf("BeforeAgent", false),
    tool: { ...contextOf("AfterTool", false), bytesMax: HOOK_TEXT_BYTES_MAX },
    stop: blockOf("deny"),
  },
  paste: composerOf({
    above: /^▄{20,}$/,
    below: /^▀{20,}$/,
    empty: /^ [>*] {3}Type your message\b/,
    prompt: /^ [>*] /,
    pasted: (lines) => `\\[PastedText:${lines}lines\\]`,
  }),
  readsMentions: true,
  // What a hook says at the end of a turn is a warning first. The result of a tool is a part of what the model said.
  toldIn: (line) => {
    const { type, toolCalls } = parseObject(line) ?? {};
    return type === "user" ? line : JSON.stringify(toolCalls ?? "");
  },
};
