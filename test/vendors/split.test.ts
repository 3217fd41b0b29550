import { describe, expect, test } from "vitest";
import { adapterOf } from "../../src/vendors/index.ts";
import type { Split } from "../../src/protocol/records/conversation.ts";
import { parseLines } from "../../src/vendors/shared/transcript.ts";
import {
  splitReader,
  type OwnMarks,
  type SplitReader,
  type TreeEntry,
  type TreeLine,
} from "../../src/vendors/shared/split.ts";

const RUN_DIR = "/state/runs/vm.api.w.17";

interface Row {
  id: string;
  after: string | null;
  says?: string;
  prompt?: string;
  /** Further fields of the line. */
  more?: object;
}

const VENDORS = {
  claude: {
    line: ({ id, after, says, prompt, more }: Row): object => ({
      uuid: id,
      parentUuid: after,
      isSidechain: false,
      type: says === undefined ? "system" : prompt === undefined ? "assistant" : "user",
      ...(prompt !== undefined && { promptId: prompt }),
      ...(says !== undefined && { message: { content: prompt === undefined ? [{ type: "text", text: says }] : says } }),
      ...more,
    }),
    mark: (row: Row): string => row.prompt ?? "",
  },
  qwen: {
    line: ({ id, after, says, prompt, more }: Row): object => ({
      uuid: id,
      parentUuid: after,
      type: says === undefined ? "system" : prompt === undefined ? "assistant" : "user",
      ...(says !== undefined && { message: { parts: [{ text: says }] } }),
      ...more,
    }),
    mark: (row: Row): string =>
      adapterOf("qwen")?.liveness.onHook?.({
        session_id: "s",
        hook_event_name: "UserPromptSubmit",
        prompt: row.says,
      })?.prompt ?? "",
  },
  pi: {
    line: ({ id, after, says, prompt, more }: Row): object => ({
      type: says === undefined ? "model_change" : "message",
      id,
      parentId: after,
      ...(says !== undefined && {
        message: { role: prompt === undefined ? "assistant" : "user", content: [{ type: "text", text: says }] },
      }),
      ...more,
    }),
    mark: (row: Row): string =>
      adapterOf("pi")?.liveness.onHook?.({ session_id: "s", event: "agent_settled", leaf: row.id })?.prompt ?? "",
  },
} as const;

const ONE: Row[] = [
  { id: "u1", after: null, says: "one", prompt: "p1" },
  { id: "a1", after: "u1", says: "answer one" },
];
const TWO: Row[] = [
  { id: "u2", after: "a1", says: "two", prompt: "p2" },
  { id: "a2", after: "u2", says: "answer two" },
];
const THREE: Row[] = [
  { id: "u3", after: "a1", says: "three by hand", prompt: "p3" },
  { id: "a3", after: "u3", says: "answer three" },
];

function read(split: SplitReader, transcript: string, marks: OwnMarks): TreeLine[] {
  return parseLines(transcript).flatMap((line) => split.read(line, marks) ?? []);
}

function keepOwn(split: SplitReader, transcript: string, marks: OwnMarks): string {
  const isBeside = split.besideOwn(read(split, transcript, marks));
  const isKept = (line: string): boolean => parseLines(line).every((fields) => !isBeside?.(fields));
  return transcript.split("\n").filter(isKept).join("\n");
}

describe.each(["claude", "qwen", "pi"] as const)("A5: %s", (vendor) => {
  const { line, mark } = VENDORS[vendor];
  const split = adapterOf(vendor)?.storage.split;
  if (!split) throw new Error("no splits are read");
  const splitOf = (transcript: string, marks: OwnMarks): Split | null => split.find(read(split, transcript, marks));
  const own = (...rows: (Row | undefined)[]): OwnMarks => ({
    prompts: rows.flatMap((row) => (row ? [mark(row)] : [])),
    runDir: RUN_DIR,
  });
  const text = (...rows: (Row | object)[]): string =>
    rows.map((row) => `${JSON.stringify("after" in row ? line(row) : row)}\n`).join("");

  test("a turn said beside the worker, and after it, is a split with the last words of both", () => {
    expect(splitOf(text(...ONE, ...TWO, ...THREE), own(ONE[0], TWO[0]))).toEqual({
      ours: { id: "a2", words: "two / answer two" },
      theirs: { id: "a3", words: "three by hand / answer three" },
    });
  });

  test("what another process said after the worker's last turn is no split, nor is the worker's own branch in front", () => {
    const after = THREE.map((row) => (row.after === "a1" ? { ...row, after: "a2" } : row));
    expect(splitOf(text(...ONE, ...TWO, ...after), own(ONE[0], TWO[0]))).toBeNull();
    expect(splitOf(text(...ONE, ...THREE, ...TWO), own(ONE[0], TWO[0]))).toBeNull();
  });

  test("going back to an earlier turn is no split, whether or not something is said after it", () => {
    const again = { id: "s4", after: "a1" };
    expect(splitOf(text(...ONE, ...TWO, again), own(ONE[0], TWO[0]))).toBeNull();
    expect(splitOf(text(...ONE, ...TWO, ...THREE), own(ONE[0], TWO[0], THREE[0]))).toBeNull();
  });

  test("a prompt that was never written, an unknown one, and none at all are no split", () => {
    const lost = { id: "u9", after: "a2", says: "killed before it was written", prompt: "p9" };
    expect(splitOf(text(...ONE, ...TWO), own(ONE[0], TWO[0], lost))).toBeNull();
    expect(splitOf(text(...ONE, ...TWO, ...THREE), own(lost))).toBeNull();
    expect(splitOf(text(...ONE, ...TWO, ...THREE), own())).toBeNull();
    expect(splitOf("", own(ONE[0]))).toBeNull();
  });

  test("a transcript of which a part is missing is no split", () => {
    expect(splitOf(text(...TWO, ...THREE), own(TWO[0]))).toBeNull();
  });

  test("a turn that was never written is a gap, with the worker's own turns before it, which a resume would leave out", () => {
    const three = { id: "u3", after: "a2", says: "three", prompt: "p3" };
    const afterGap = text(...ONE, three, { id: "a3", after: "u3", says: "answer three" });
    const found = { missing: "a2", words: "one / answer one" };
    expect(split.findGap(read(split, afterGap, own(ONE[0], TWO[0], three)))).toEqual(found);
  });

  test("a whole transcript, one that goes back, and one that begins later have no gap, nor have turns of others", () => {
    const again = { id: "s4", after: "a1" };
    for (const rows of [[...ONE, ...TWO], [...ONE, ...TWO, again], [...ONE, ...TWO, ...THREE], TWO]) {
      expect(split.findGap(read(split, text(...rows), own(ONE[0], TWO[0])))).toBeNull();
    }
    const three = { id: "u3", after: "a2", says: "three", prompt: "p3" };
    expect(split.findGap(read(split, text(...ONE, three), own(three)))).toBeNull();
    expect(split.findGap([])).toBeNull();
  });

  test("what a summary stands for may be missing", () => {
    const summary = {
      claude: { logicalParentUuid: "a2" },
      qwen: { subtype: "chat_compression" },
      pi: { type: "compaction" },
    };
    const after = { claude: null, qwen: "a2", pi: "a2" }[vendor];
    const rows = [
      ...ONE,
      { id: "s9", after, more: summary[vendor] },
      { id: "u4", after: "s9", says: "four", prompt: "p4" },
    ];
    expect(split.findGap(read(split, text(...rows), own(ONE[0])))).toBeNull();
  });

  test("the worker's own branch alone is left, with lines that belong to no entry, and goes on from there", () => {
    const title = { type: "custom-title", customTitle: "w" };
    const whole = text(...ONE, title, ...TWO, ...THREE);
    const kept = keepOwn(split, whole, own(ONE[0], TWO[0]));
    expect(kept).toBe(text(...ONE, title, ...TWO));
    expect(splitOf(kept, own(ONE[0], TWO[0]))).toBeNull();
    expect(keepOwn(split, text(...ONE, ...TWO), own(TWO[0]))).toBe(text(...ONE, ...TWO));
  });
});

describe("A5: claude's own lines", () => {
  const { line } = VENDORS.claude;
  const split = adapterOf("claude")?.storage.split;
  if (!split) throw new Error("no splits are read");
  const splitOf = (transcript: string, marks: OwnMarks): Split | null => split.find(read(split, transcript, marks));
  const own: OwnMarks = { prompts: ["p1", "p2"], runDir: RUN_DIR };
  const text = (...rows: (Row | object)[]): string =>
    rows.map((row) => `${JSON.stringify("after" in row ? line(row) : row)}\n`).join("");
  const checkpoint = (leafUuid: string, more: object = {}): object => ({ type: "last-prompt", leafUuid, ...more });

  test("a process that leaves writes a checkpoint, from which claude goes on though the worker has spoken since", () => {
    const found = splitOf(text(...ONE, ...THREE, checkpoint("a3"), ...TWO), own);
    expect(found).toMatchObject({ ours: { id: "a2" }, theirs: { id: "a3" } });
    const kept = keepOwn(split, text(...ONE, ...THREE, checkpoint("a3"), ...TWO), own);
    expect(kept).toBe(text(...ONE, ...TWO));
    expect(splitOf(text(...ONE, ...TWO, ...THREE, checkpoint("a2")), own)).toBeNull();
  });

  test("an answer that is left out is missed by the hook that it ran, though its prompt is there", () => {
    const stop = { subtype: "stop_hook_summary", hookInfos: [{ command: `/bin/sh '${RUN_DIR}/hook' stop` }] };
    const rows = [
      ...ONE,
      { id: "u2", after: "a1", says: "two", prompt: "p2" },
      { id: "u3", after: "u2", says: "by hand", prompt: "p3" },
      { id: "a3", after: "u3", says: "answer three" },
      checkpoint("a3"),
      { id: "a2", after: "u2", says: "answer two" },
      { id: "h2", after: "a2", more: stop },
    ];
    expect(splitOf(text(...rows), own)).toEqual({
      ours: { id: "a2", words: "answer two" },
      theirs: { id: "a3", words: "by hand / answer three" },
    });
  });

  test("a compaction, a subagent and an explicit way back are the worker's own", () => {
    const boundary = { subtype: "compact_boundary", logicalParentUuid: "a2" };
    const compacted = [
      { id: "c1", after: null, more: boundary },
      { id: "u5", after: "c1", says: "the summary", prompt: "p5" },
    ];
    expect(splitOf(text(...ONE, ...TWO, ...compacted), own)).toBeNull();
    expect(splitOf(text(...ONE, ...TWO, ...compacted, { ...THREE[0], id: "u6", after: "u5" }), own)).toBeNull();
    const side = { id: "x1", after: null, says: "a subagent", more: { isSidechain: true } };
    expect(splitOf(text(...ONE, ...TWO, side), own)).toBeNull();
    expect(splitOf(text(...ONE, ...TWO, checkpoint("a1", { explicit: true, rewound: true })), own)).toBeNull();
  });
});

/** A split in which each side goes on for so many entries, and counts how often an entry is asked for the one before it. */
function longSplit(length: number): { entries: TreeEntry[]; steps: () => number } {
  let steps = 0;
  const entryOf = (id: string, after: string | null): TreeEntry => ({
    id,
    get parent() {
      steps++;
      return after;
    },
    spoken: true,
    words: null,
    own: id === "ours 0",
  });
  const sideOf = (name: string): TreeEntry[] =>
    Array.from({ length }, (_, at) => entryOf(`${name} ${at}`, at === 0 ? "root" : `${name} ${at - 1}`));
  return { entries: [entryOf("root", null), ...sideOf("ours"), ...sideOf("theirs")], steps: () => steps };
}

test.each([
  ["in order", (entries: TreeEntry[]) => entries],
  ["of which children stand before their parents", (entries: TreeEntry[]) => entries.toReversed()],
])("A5: a transcript %s takes work in proportion to its length", (_order, arranged) => {
  const stepsFor = (length: number): number => {
    const { entries, steps } = longSplit(length);
    const resumed = `theirs ${length - 1}`;
    const reader = splitReader({ read: () => null, entryIdOf: () => null, resumedOf: () => resumed });
    const split = reader.find(arranged(entries).map((entry) => ({ entry })));
    expect(split?.theirs.id).toBe(resumed);
    expect(split?.ours.id).toMatch(/^ours /);
    return steps();
  };
  expect(stepsFor(2000)).toBeLessThan(3 * stepsFor(1000));
});
