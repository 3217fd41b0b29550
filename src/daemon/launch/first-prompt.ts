import type { LaunchStep } from "../../protocol/records/launch.ts";
import type { Conversation } from "../../store/conversations.ts";
import { wasCleared } from "../conversations/binding/bindings.ts";
import type { LaunchSpec } from "./spec.ts";

// A file of its own, because the rule is looked for by its name.

/**
 * Returns what is said first at this start, or null. A first prompt is said in a new conversation, and again in one that ended
 * before its first turn. A branch continues what its stem said, and a conversation that its user has cleared stays clear.
 */
export function firstPromptOf(
  { prompt }: LaunchSpec,
  conversation: Conversation,
  step: LaunchStep,
  firstTurnPending: boolean,
): string | null {
  const begins = conversation.forkedFrom === null && !wasCleared(conversation);
  return begins && (step === "new" || firstTurnPending) ? prompt : null;
}
