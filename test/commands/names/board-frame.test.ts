import { expect, test } from "vitest";
import { boardFrame, type BoardState } from "../../../src/commands/names/board-frame.ts";
import { columnsOf } from "../../../src/commands/shared/table/columns.ts";
import { doingTable } from "../../../src/commands/shared/table/doing-table.ts";
import { attentionItems } from "../../../src/commands/shared/table/attention-list.ts";
import { PLAIN, sampleWorker } from "../shared/table/sample-workers.ts";

const HOSTILE = "\u001b]0;x\u0007\u001b[2J\nnext line 漢字漢字漢字漢字漢字漢字";
const WORKERS = [
  sampleWorker("planner", "idle", { words: "The plan has three steps.", folder: "/w/api" }),
  sampleWorker("coder-1", "busy", { vendor: "codex", words: "fix the login test", folder: "/w/api.worktrees/coder-1" }),
  sampleWorker("coder-2", "blocked", { unread: 2, folder: `/w/api/${HOSTILE}`, words: HOSTILE }),
  sampleWorker("tester", "crash-looping", { attention: `started 5 times, the last one: ${HOSTILE}` }),
  ...Array.from({ length: 40 }, (_, at) => sampleWorker(`helper-${at}`, "idle", { words: HOSTILE })),
];

function stateWith(more: Partial<BoardState>): BoardState {
  const needs = attentionItems(WORKERS);
  const all = { workers: WORKERS, selected: "api/coder-1", needs, title: `api  ${HOSTILE}`, next: "perdure up" };
  return {
    ...all,
    addresses: false,
    root: "/w/api",
    view: { kind: "list" },
    notice: "",
    lost: false,
    leaving: "Ctrl-b d",
    ...more,
  };
}

test("at a terminal the table says what each worker is doing, and where", () => {
  const table = doingTable(WORKERS.slice(0, 2), PLAIN, { columns: 100, root: "/w/api" });
  expect(table?.split("\n")).toEqual([
    "NAME     VENDOR  STATE   UP   FOLDER",
    "planner  claude  ● idle  1m   -                         The plan has three steps.",
    "coder-1  codex   ● busy  1m   /w/api.worktrees/coder-1  fix the login test",
  ]);
  expect(table).not.toMatch(/GEN|CONVERSATION|…/);
});

const VIEWS: BoardState["view"][] = [
  { kind: "list" },
  { kind: "help" },
  { kind: "question", text: HOSTILE },
  { kind: "peek", address: "api/coder-1", lines: Array.from({ length: 60 }, () => HOSTILE), above: 3 },
];
const SIZES = [1, 2, 3, 4, 5, 6, 9, 10, 24, 90].flatMap((rows) =>
  [1, 2, 8, 18, 36, 44, 60, 100, 240].map((columns) => ({ rows, columns })),
);

test.each(VIEWS.map((view) => [view.kind, view] as const))(
  "%s has as many rows as the terminal, none wider, and nothing in it commands the terminal",
  (_kind, view) => {
    for (const size of SIZES) {
      for (const notice of ["", HOSTILE]) {
        const lines = boardFrame(stateWith({ view, notice }), size, PLAIN).split("\n");
        expect(lines).toHaveLength(size.rows);
        for (const line of lines) {
          const tooWide = columnsOf(line) > Math.max(1, size.columns - 1);
          expect(tooWide ? { size, line } : null).toBeNull();
          // oxlint-disable-next-line no-control-regex -- control characters are what this is about
          expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
        }
      }
    }
  },
);

test("the selected worker is in sight, whatever the size", () => {
  for (const selected of ["api/planner", "api/helper-0", "api/helper-39"]) {
    for (const rows of [2, 3, 5, 8, 24]) {
      const frame = boardFrame(stateWith({ selected }), { rows, columns: 80 }, PLAIN);
      expect(frame.split("\n").filter((line) => line.startsWith("› "))).toEqual([
        expect.stringContaining(selected.slice("api/".length)),
      ]);
    }
  }
});
