import { expect, test } from "vitest";
import type { WorkerSummary } from "../../../src/protocol/records/worker.ts";
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
  { kind: "help", from: 0 },
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

function footOf(worker: Partial<WorkerSummary>, columns: number): string {
  const workers = [{ ...sampleWorker("one", "idle"), ...worker }];
  const frame = boardFrame(stateWith({ workers, needs: [], selected: "api/one" }), { rows: 10, columns }, PLAIN);
  return frame.split("\n").at(-1) ?? "";
}

test("the last line has the keys that do something for the selected worker, the important ones where it is narrow", () => {
  expect(footOf({ mode: "tmux" }, 100)).toBe("? help  Enter attach  s send  r restart  l logs  q quit");
  expect(footOf({ mode: "tmux", run: null, state: "stopped" }, 100)).toBe("? help  u bring up  s send  l logs  q quit");
  expect(footOf({ mode: "foreground" }, 100)).toBe("? help  s send  l logs  q quit");
  expect(footOf({ mode: "tmux" }, 40)).toBe("? help  Enter attach  s send  q quit");
  expect(footOf({ mode: "tmux" }, 20)).toBe("? help  q quit");
  expect(footOf({ mode: "tmux" }, 8)).toBe("q quit");
});

test("the help says in few words on 40 columns how to come back and how to quit, and what the signs mean", () => {
  const help = stateWith({ view: { kind: "help", from: 0 }, leaving: "C-b d" });
  const small = boardFrame(help, { rows: 10, columns: 40 }, PLAIN);
  expect(small).toMatch(/Enter +attach\nC-b d +comes back here\nq, Ctrl-C +quit; workers go on\n/);
  expect(small).not.toContain("…");
  const whole = boardFrame(help, { rows: 24, columns: 100 }, PLAIN);
  expect(whole).toMatch(
    /Signs\n○ {2}stopped, paused, asleep\n[^]*● {2}running, idle, busy, turning\n◆ {2}blocked, on-hold\n✗ {2}crash-looping/,
  );
});
