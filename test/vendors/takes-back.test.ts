import { describe, expect, test } from "vitest";
import { adapterOf } from "../../src/vendors/index.ts";

type Line = Readonly<Record<string, unknown>>;

/** Asks the adapter as custody does: it reads each line first. */
function takesBack(vendor: string, gone: readonly Line[], left: readonly Line[]): boolean {
  const facet = adapterOf(vendor)?.storage.takesBack;
  if (!facet) throw new Error(`${vendor} only appends`);
  return facet.judge(gone.map(facet.read), left.map(facet.read));
}

const at = (second: number): string => `2026-11-18T20:00:${String(second).padStart(2, "0")}.000Z`;

describe("claude", () => {
  const entry = (type: string, uuid: string, parentUuid: string | null, second: number, more: Line = {}): Line => ({
    type,
    uuid,
    parentUuid,
    timestamp: at(second),
    sessionId: "s",
    message: { role: type, content: uuid },
    ...more,
  });
  const TWO = [entry("user", "u2", "a1", 2), entry("assistant", "a2", "u2", 3)];

  test("turns that its next entries go on from are gone by another hand", () => {
    expect(takesBack("claude", TWO, [entry("user", "u3", "a2", 4), entry("assistant", "a3", "u3", 5)])).toBe(false);
  });

  test("turns are gone by another hand, even if somebody has gone on from an earlier one", () => {
    expect(takesBack("claude", TWO, [entry("user", "u3", "a1", 4), entry("assistant", "a3", "u3", 5)])).toBe(false);
    expect(takesBack("claude", TWO, [])).toBe(false);
  });

  test("an answer that broke off is taken back, with the results of its tools", () => {
    const result = { message: { role: "user", content: [{ type: "tool_result", content: "x" }] } };
    const gone = [entry("assistant", "a2", "u2", 3), entry("user", "r2", "a2", 4, result)];
    expect(takesBack("claude", gone, [entry("assistant", "a3", "u2", 5)])).toBe(true);
  });

  test("an answer in whose place there is nothing is gone by another hand: claude would have asked again", () => {
    const gone = [entry("assistant", "a2", "u2", 3), { type: "last-prompt", leafUuid: "a2" }];
    expect(takesBack("claude", gone, [])).toBe(false);
    expect(takesBack("claude", gone, [{ type: "mode", mode: "normal" }])).toBe(false);
  });

  test("what was said before a compaction may be taken out, and what stands behind it may not", () => {
    const boundary = entry("system", "b", null, 10, { logicalParentUuid: "a2", compactMetadata: { trigger: "auto" } });
    const after = [boundary, entry("user", "u9", "b", 11)];
    expect(takesBack("claude", [...TWO, { type: "last-prompt", leafUuid: "a2" }], after)).toBe(true);
    expect(takesBack("claude", [...TWO, entry("user", "u8", "b", 12)], after)).toBe(false);
  });
});

describe("copilot", () => {
  const event = (id: string, parentId: string, type = "user.message", data: Line = {}): Line => ({
    type,
    data,
    id,
    parentId,
  });
  const rewind = (id: string, parentId: string): Line => event(id, parentId, "session.info", { infoType: "rewind" });
  const GONE = [event("c", "b"), event("d", "c"), event("e", "d")];

  test("what its user has rewound is taken back, as copilot says in its place", () => {
    expect(takesBack("copilot", GONE, [rewind("r", "b")])).toBe(true);
    expect(takesBack("copilot", GONE, [event("b", "a"), rewind("r", "b"), event("f", "r"), rewind("s", "f")])).toBe(
      true,
    );
  });

  test("what is gone from any other place is damage", () => {
    expect(takesBack("copilot", GONE, [])).toBe(false);
    expect(takesBack("copilot", GONE, [event("f", "e")])).toBe(false);
    expect(takesBack("copilot", GONE, [event("f", "e"), rewind("r", "f")])).toBe(false);
    expect(takesBack("copilot", [event("a", "0"), ...GONE], [event("b", "a"), rewind("r", "b")])).toBe(false);
    expect(takesBack("copilot", GONE, [event("r", "b", "session.info", { infoType: "notification" })])).toBe(false);
  });
});

describe("pi", () => {
  const header = (version?: number): Line => ({ type: "session", id: "s", ...(version && { version }) });
  const entries = [
    { type: "message", id: "1", parentId: null },
    { type: "message", id: "2", parentId: "1" },
  ];

  test("a transcript of an earlier form is written anew with every entry in it", () => {
    expect(takesBack("pi", [header(2), ...entries], [header(3), ...entries, { type: "message", id: "3" }])).toBe(true);
    expect(takesBack("pi", [header(), { type: "message" }], [header(3), { type: "message", id: "1" }])).toBe(true);
  });

  test("an entry that is missing is damage, as is everything in the same form", () => {
    expect(takesBack("pi", [header(2), ...entries], [header(3), { type: "message", id: "1" }])).toBe(false);
    expect(takesBack("pi", entries, entries.slice(0, 1))).toBe(false);
    expect(takesBack("pi", [header(3), ...entries], [header(3), ...entries])).toBe(false);
  });
});

test.each(["codex", "gemini", "qwen", "opencode", "scripted"])("%s takes nothing back out of a file", (vendor) => {
  expect(adapterOf(vendor)?.storage.takesBack).toBeUndefined();
});
