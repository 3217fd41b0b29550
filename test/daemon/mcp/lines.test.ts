import { expect, test } from "vitest";
import { idInCut } from "../../../src/daemon/mcp/json-rpc.ts";
import { LineReader } from "../../../src/daemon/mcp/line-reader.ts";
import { BRIDGE_LINE_BYTES_MAX, BRIDGE_LINE_KEPT_BYTES } from "../../../src/limits/index.ts";

test("a line beyond the limit is cut, in whatever pieces it comes, and those around it are whole", () => {
  const long = `7 0 {"id":1,"x":"${"a".repeat(2 * BRIDGE_LINE_BYTES_MAX)}"}`;
  const bytes = Buffer.from(`before\n${long}\nafter\n`);
  for (const size of [1_000, 65_536, bytes.length]) {
    const reader = new LineReader();
    const lines = [];
    for (let at = 0; at < bytes.length; at += size) lines.push(...reader.push(bytes.subarray(at, at + size)));
    const text = `${long.slice(0, BRIDGE_LINE_KEPT_BYTES)}\n${long.slice(-BRIDGE_LINE_KEPT_BYTES)}`;
    expect(lines).toEqual([
      { text: "before", cut: false },
      { text, cut: true },
      { text: "after", cut: false },
    ]);
  }
});

test("a line that is as long as the limit is whole", () => {
  const text = "a".repeat(BRIDGE_LINE_BYTES_MAX);
  expect(new LineReader().push(Buffer.from(`${text}\n`))).toEqual([{ text, cut: false }]);
});

test.each([
  ['{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":"x\nx"}}', 7],
  ['{"id":"a-1","method":"x\nx"}', "a-1"],
  ['{"method":"tools/call","params":{"a":"x\nx"}},"jsonrpc":"2.0","id":7}', 7],
  ['{"method":"tools/call","params":{"a":"x\nx","id":8}}', null],
  ['{"method":"x","params":{"id":9},"a":"\nx"}', null],
])("the id of a message that was cut: %j", (text, id) => {
  expect(idInCut(text)).toBe(id);
});
