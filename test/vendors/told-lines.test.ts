import { expect, test } from "vitest";
import { adapterOf } from "../../src/vendors/index.ts";

const MARK = "m-0123456789abcdef";

/** Lines as the programs write them, shortened; the mark stands where mail stood. */
const LINES: Readonly<Record<string, { told: object[]; notTold: object[] }>> = {
  claude: {
    told: [
      { parentUuid: null, type: "user", message: { role: "user", content: `Another Claude session sent: ${MARK}` } },
      { type: "user", message: { role: "user", content: [{ type: "tool_result", content: MARK }] } },
      { attachment: { type: "hook_additional_context", content: [MARK] }, type: "attachment" },
      { attachment: { type: "queued_command", prompt: MARK }, type: "attachment" },
    ],
    notTold: [
      { type: "queue-operation", operation: "enqueue", content: MARK },
      { type: "api-request-blob", message: { role: "user", content: [{ type: "text", text: MARK }] } },
      { attachment: { type: "hook_success", hookName: "Stop", stdout: MARK }, type: "attachment" },
      { type: "system", subtype: "stop_hook_summary", hookInfos: [MARK] },
      { type: "assistant", message: { role: "assistant", content: [{ type: "text", text: MARK }] } },
    ],
  },
  codex: {
    told: [
      { type: "response_item", payload: { type: "message", role: "developer", content: [{ text: MARK }] } },
      { type: "response_item", payload: { type: "message", role: "user", content: [{ text: MARK }] } },
      { type: "response_item", payload: { type: "function_call_output", output: MARK } },
    ],
    notTold: [
      { type: "event_msg", payload: { type: "item_completed", item: { type: "HookPrompt", text: MARK } } },
      { type: "event_msg", payload: { type: "task_complete", last_agent_message: MARK } },
      { type: "response_item", payload: { type: "message", role: "assistant", content: [{ text: MARK }] } },
    ],
  },
  gemini: {
    told: [
      { type: "user", content: [{ text: MARK }] },
      { type: "gemini", content: "", toolCalls: [{ result: [{ functionResponse: { response: { output: MARK } } }] }] },
    ],
    notTold: [
      { type: "warning", content: `Agent execution blocked: ${MARK}` },
      { type: "gemini", content: MARK, thoughts: [] },
    ],
  },
  copilot: {
    told: [
      { type: "user.message", data: { content: MARK, transformedContent: MARK } },
      { type: "tool.execution_complete", data: { result: { content: MARK } } },
    ],
    notTold: [
      { type: "hook.start", data: { input: { prompt: MARK } } },
      { type: "hook.end", data: { output: { reason: MARK } } },
      { type: "assistant.message", data: { content: MARK } },
    ],
  },
  qwen: {
    told: [
      { uuid: "a", type: "user", message: { role: "user", parts: [{ text: MARK }] } },
      { uuid: "a", type: "tool_result", message: { role: "user", parts: [{ functionResponse: MARK }] } },
    ],
    notTold: [
      { uuid: "a", type: "system", subtype: "ui_telemetry", systemPayload: MARK },
      { uuid: "a", type: "assistant", message: { role: "model", parts: [{ text: MARK }] } },
    ],
  },
  pi: {
    told: [
      { type: "custom_message", customType: "perdure", content: MARK },
      { type: "message", message: { role: "toolResult", content: [{ text: MARK }] } },
    ],
    notTold: [{ type: "message", message: { role: "assistant", content: [{ text: MARK }] } }],
  },
};

test.each(Object.entries(LINES))(
  "%s: mail is shown by what its model was told, and by nothing else",
  (vendor, lines) => {
    const toldIn = adapterOf(vendor)?.delivery?.toldIn ?? ((): string => "");
    const shows = (line: object): boolean => toldIn(JSON.stringify(line)).includes(MARK);
    expect(lines.told.filter((line) => !shows(line))).toEqual([]);
    expect(lines.notTold.filter(shows)).toEqual([]);
  },
);
