import type { PlanRequest } from "../launch-plan.ts";
import { optionsOf, tokensOf, type ArgumentTable } from "./arguments.ts";

/**
 * Returns what is to be said first, if this is a start at which something is: not in a branch, not without a terminal,
 * and not where the user's own words say something already. `promptOptions` are the options that do.
 */
export function firstPrompt(
  { step, prompt, args }: PlanRequest,
  headless: boolean,
  table: ArgumentTable,
  ...promptOptions: string[]
): string | null {
  if (step === "fork" || headless) return null;
  const hasOwnPrompt = tokensOf(args, table).some(
    (word) =>
      word.kind === "word" ||
      word.kind === "literal" ||
      optionsOf(word, table).some((option) => promptOptions.includes(option)),
  );
  return hasOwnPrompt ? null : prompt;
}

/** Gives the prompt as the value of an option, joined to it, because a prompt may begin like an option itself. */
export function asOption(option: string, prompt: string | null): string[] {
  return prompt === null ? [] : [`${option}=${prompt}`];
}

/** Gives the prompt as the last word, behind a `--`, because a prompt may look like an option. */
export function asWord(prompt: string | null, args: readonly string[], table: ArgumentTable): string[] {
  if (prompt === null) return [];
  const dashed = tokensOf(args, table).some(({ kind, text }) => kind === "option" && text === "--");
  // Even behind a `--` a single word may be taken for a subcommand.
  const word = table.noConversation.has(prompt) ? `${prompt} ` : prompt;
  return dashed ? [word] : ["--", word];
}
