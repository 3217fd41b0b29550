import { expect, it } from "vitest";
import { PROMPT_WRITTEN_MS } from "../../../../src/limits/index.ts";
import type { Sign } from "../../../../src/protocol/records/conversation.ts";
import { PromptWatch } from "../../../../src/daemon/conversations/signs/prompt-watch.ts";

const sign = (activity: "idle" | "busy" | "blocked", session = "a"): Sign => ({
  session,
  means: "open",
  evidence: "hook",
  activity,
});

it("A3: nothing must be on disk before a prompt, or right after it", () => {
  const prompts = new PromptWatch();
  prompts.onSign(sign("idle"), 0);
  expect(prompts.mustBeWritten("a", 10 * PROMPT_WRITTEN_MS)).toBe(false);
  prompts.onSign(sign("busy"), 0);
  prompts.onSign(sign("blocked"), 1);
  expect(prompts.mustBeWritten("a", PROMPT_WRITTEN_MS - 1)).toBe(false);
});

it("A3: a prompt must be on disk when it was answered, or after a while", () => {
  const prompts = new PromptWatch();
  prompts.onSign(sign("busy"), 0);
  expect(prompts.mustBeWritten("a", PROMPT_WRITTEN_MS)).toBe(true);
  const answered = new PromptWatch();
  answered.onSign(sign("busy"), 0);
  answered.onSign(sign("idle"), 1);
  expect(answered.mustBeWritten("a", 1)).toBe(true);
});

it("A3: a prompt counts for its own conversation only", () => {
  const prompts = new PromptWatch();
  prompts.onSign(sign("busy"), 0);
  prompts.onSign(sign("idle"), 1);
  expect(prompts.mustBeWritten("b", 1)).toBe(false);
  prompts.onSign(sign("idle", "b"), 2);
  expect(prompts.mustBeWritten("b", 10 * PROMPT_WRITTEN_MS)).toBe(false);
  expect(prompts.mustBeWritten("a", 10 * PROMPT_WRITTEN_MS)).toBe(false);
});
