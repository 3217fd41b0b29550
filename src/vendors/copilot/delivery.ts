import { HOOK_TEXT_BYTES_MAX } from "../../limits/index.ts";
import type { DeliveryFacet, HookDelivery } from "../delivery.ts";
import { blockOf } from "../shared/hook-delivery.ts";
import { fileWake } from "../shared/wake-file.ts";
import { isReady } from "./extension.ts";

/**
 * Copilot's hooks hand text over as a system reminder in the user's prompt, inside the result of a tool, or as the next prompt. Idle, it
 * is woken by an extension of ours, as by a user, for as long as no extension of somebody else's would be started along with it.
 */
export const copilotDelivery: DeliveryFacet = {
  hooks: {
    prompt: contextOf(true),
    tool: { ...contextOf(false), bytesMax: HOOK_TEXT_BYTES_MAX },
    stop: blockOf("block"),
  },
  wake: { ...fileWake("extension"), isOpen: isReady },
  toldIn: (line) => (/^\{"type":"(?:user\.message|tool\.execution_complete)"/.test(line) ? line : ""),
};

function contextOf(isPrivileged: boolean): HookDelivery {
  return { print: (text) => `${JSON.stringify({ additionalContext: text })}\n`, isPrivileged };
}
