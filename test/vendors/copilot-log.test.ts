import { expect, test } from "vitest";
import { AGENT_LOG_BYTES_MAX, TRANSCRIPT_READ_BYTES } from "../../src/limits/index.ts";
import { foregroundIn } from "../../src/vendors/copilot/log.ts";
import { folder, put } from "./fixtures.ts";

const A = "3f0c2a6e-5b1d-4c7e-9a42-0d6f1e8b7c35";
const B = "8d1e4f70-2c93-4ab6-b5d8-61f7a0c9e2b4";

function line(session: string, what = "Registering"): string {
  return `2026-11-16T02:38:44.557Z [INFO] ${what} foreground session: ${session}\n`;
}

function chatter(bytes: number): string {
  const one = "2026-11-16T02:38:45.000Z [INFO] something else, ü\n";
  return one.repeat(Math.ceil(bytes / Buffer.byteLength(one)));
}

function told(text: string): string | null {
  return foregroundIn(put(folder(), "process-1-2.log", text));
}

test("the conversation that came to the front last is the current one", () => {
  expect(told(line(A))).toBe(A);
  expect(told(line(A) + line(A, "Unregistering") + line(B))).toBe(B);
  expect(told(line(A) + line(A, "Unregistering") + line(B) + line(B, "Unregistering") + line(A))).toBe(A);
});

test("later lines do not hide the current conversation, wherever reading begins", () => {
  for (const more of [0, 1, TRANSCRIPT_READ_BYTES - 200, TRANSCRIPT_READ_BYTES * 3]) {
    expect(told(line(A) + chatter(more))).toBe(A);
  }
  const text = line(A) + line(B) + chatter(TRANSCRIPT_READ_BYTES);
  for (let cut = 0; cut < 150; cut++) expect(told(text.slice(0, text.length - cut))).toBe(B);
});

test("half a line, a text that mentions a conversation, and a line too far back are ignored", () => {
  expect(told("")).toBeNull();
  expect(told(chatter(1_000))).toBeNull();
  expect(told(line(A).slice(0, -2))).toBeNull();
  expect(told(`2026-11-16T02:38:44.557Z [DEBUG] prompt: ${line(A)}`)).toBeNull();
  expect(told(line("../../etc/passwd"))).toBeNull();
  expect(told(line(A) + line(A, "Unregistering") + line(B) + chatter(AGENT_LOG_BYTES_MAX + 1_000))).toBeNull();
});

test("a log that is gone tells nothing", () => {
  expect(foregroundIn("/nowhere/process-1-2.log")).toBeNull();
});
