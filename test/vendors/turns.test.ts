import { expect, test } from "vitest";
import { adapterOf } from "../../src/vendors/index.ts";

const AT = "2026-11-18T08:08:03.139Z";

function read(vendor: string, line: object): unknown {
  return adapterOf(vendor)?.liveness.readTurn?.({ timestamp: AT, ...line })?.outward ?? null;
}

function codex(payload: object): unknown {
  return read("codex", { type: "event_msg", payload });
}

test("C1: codex's transcript tells when a turn begins and ends", () => {
  expect(codex({ type: "task_started", turn_id: "1" })).toEqual({ activity: "busy" });
  expect(codex({ type: "task_complete", last_agent_message: "done" })).toEqual({ activity: "idle" });
  expect(codex({ type: "turn_aborted", reason: "interrupted" })).toEqual({ activity: "idle" });
  expect(codex({ type: "token_count" })).toBeNull();
  expect(read("codex", { type: "response_item", payload: { type: "task_started" } })).toBeNull();
  expect(read("codex", { timestamp: 7, type: "event_msg", payload: { type: "task_started" } })).toBeNull();
});

test.each([
  ["login", "unexpected status 401 Unauthorized: made-up error 401, url: http://127.0.0.1:1/v1/responses"],
  ["login", "Missing environment variable: `FAKE_KEY`."],
  ["limit", "exceeded retry limit, last status: 429 Too Many Requests"],
  ["limit", "Quota exceeded. Check your plan and billing details."],
  ["limit", "You’ve hit your usage limit. Try again later."],
])("C2: codex's turn fails for want of a %s: %s", (blocked, message) => {
  const outward = { activity: "blocked", blocked, words: `■ ${message}` };
  expect(codex({ type: "task_complete", last_agent_message: null, error: { message } })).toEqual(outward);
});

test("C2: another failure blocks nobody, and the model's words are no failure", () => {
  expect(codex({ type: "task_complete", error: { message: "stream disconnected" } })).toEqual({ activity: "idle" });
  const said = "unexpected status 401 Unauthorized: so it says";
  expect(codex({ type: "task_complete", last_agent_message: said })).toEqual({ activity: "idle" });
});

test("C2: copilot's transcript tells of a turn that failed, and the rest its hooks tell", () => {
  const words = "Authentication failed with provider at http://127.0.0.1:1/v1 (HTTP 401).";
  const failed = (data: object): unknown => read("copilot", { type: "session.error", data });
  expect(failed({ errorType: "authentication", statusCode: 401, message: words })).toEqual({
    activity: "blocked",
    blocked: "login",
    words,
  });
  const late = "Failed to get response from the AI model; retried 5 times Last error: 429 made-up error 429";
  expect(failed({ errorType: "query", message: late })).toEqual({ activity: "blocked", blocked: "limit", words: late });
  expect(failed({ errorType: "query", message: "no answer" })).toEqual({ activity: "idle" });
  expect(read("copilot", { type: "abort", data: {} })).toEqual({ activity: "idle" });
  expect(read("copilot", { type: "assistant.turn_end", data: {} })).toBeNull();
});
