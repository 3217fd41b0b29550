import type { HookDelivery } from "../delivery.ts";

/** Makes the form of a hook that keeps a turn from ending, with the text as the reason to go on. */
export function blockOf(decision: "block" | "deny"): HookDelivery {
  return { print: (text) => `${JSON.stringify({ decision, reason: text })}\n`, isPrivileged: false, prolongs: true };
}

/** Makes the form of a hook whose text the program adds to what its model is told. */
export function contextOf(hookEventName: string, isPrivileged = true): HookDelivery {
  return {
    print: (text) => `${JSON.stringify({ hookSpecificOutput: { hookEventName, additionalContext: text } })}\n`,
    isPrivileged,
  };
}
