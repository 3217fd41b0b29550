import { expect, test } from "vitest";
import { attentionItems, attentionText } from "../../../../src/commands/shared/table/attention-list.ts";
import { cutToColumns } from "../../../../src/commands/shared/table/columns.ts";
import { suggestCommand } from "../../../../src/commands/names/suggestion.ts";
import { inOrderOfNames, workerTable } from "../../../../src/commands/shared/table/worker-table.ts";
import type { WorkerState } from "../../../../src/protocol/records/worker.ts";
import { MARKED, PLAIN, sampleWorker } from "./sample-workers.ts";

const FLEET = [
  sampleWorker("planner", "idle"),
  sampleWorker("coder-1", "busy", { vendor: "codex" }),
  sampleWorker("coder-2", "blocked", { unread: 2 }),
  sampleWorker("tester", "crash-looping", { attention: "started 5 times in 120 s, the last one: exit 1" }),
  sampleWorker("docs", "backing-off"),
  sampleWorker("writer", "stopped", { session: null }),
];

test("the table says of each worker what a person looks for, and fits 100 columns", () => {
  const [header, ...rows] = (workerTable(FLEET, PLAIN, { columns: 100 }) ?? "").split("\n");
  expect(header).toBe("NAME     VENDOR  STATE            UP   GEN  CONVERSATION     MAIL");
  expect(rows).toEqual([
    "planner  claude  ● idle           1m   3    …71c8b7b2ee40 ✓  -",
    "coder-1  codex   ● busy           1m   3    …71c8b7b2ee40 ✓  -",
    "coder-2  claude  ◆ blocked        1m   3    …71c8b7b2ee40 ✓  2     waits for your answer",
    "tester   claude  ✗ crash-looping  -    3    …71c8b7b2ee40 ✓  -     started 5 times in 120 s, the la…",
    "docs     claude  ◌ backing-off    -    3    …71c8b7b2ee40 ✓  -     SIGKILL; restarts by itself",
    "writer   claude  ○ stopped        -    3    -                -     SIGKILL, 1m ago",
  ]);
  for (const row of rows) expect(row.length).toBeLessThanOrEqual(100);
});

test("nothing is cut where nobody said how wide it may be; pid and run are for --long", () => {
  const whole = workerTable(FLEET, PLAIN) ?? "";
  expect(whole).toContain("the last one: exit 1");
  expect(whole).not.toMatch(/4242|velox/);
  expect(workerTable(FLEET, PLAIN, { long: true })).toMatch(/PID +RUN.*\n.* 4242 +velox\.api\.planner\.1794776835/);
});

test.each<[WorkerState, string]>([
  ["idle", "<dim><green>● idle</green></dim>"],
  ["busy", "<green>● busy</green>"],
  ["running", "● running"],
  ["blocked", "<yellow>◆ blocked</yellow>"],
  ["on-hold", "<yellow>◆ on-hold</yellow>"],
  ["backing-off", "<yellow>◌ backing-off</yellow>"],
  ["crash-looping", "<red>✗ crash-looping</red>"],
  ["unresumable", "<red>✗ unresumable</red>"],
  ["stopped", "<dim>○ stopped</dim>"],
])("%s has its colour", (state, shown) => {
  expect(workerTable([sampleWorker("coder", state)], MARKED)).toContain(shown);
});

test("a state that only another version knows is shown by its name", () => {
  const state = "dreaming" as WorkerState;
  expect(workerTable([sampleWorker("coder", state)], MARKED)).toContain("<yellow>◆ dreaming</yellow>");
});

test("a conversation carries the mark of its proof", () => {
  const shown = (proved: boolean | "pending"): string =>
    workerTable(
      [sampleWorker("coder", "idle", { session: { id: "0123456789abcdef", provenance: "assigned", proved } })],
      MARKED,
    ) ?? "";
  expect(shown(true)).toContain("<dim>…456789abcdef</dim> <green>✓</green>");
  expect(shown("pending")).toContain("<dim>…456789abcdef</dim> <yellow>?</yellow>");
  expect(shown(false)).toContain("<red>…456789abcdef ✗</red>");
});

test("what others wrote is escaped before it is cut, and wide characters count as two", () => {
  const hostile = sampleWorker("coder", "idle", { attention: "\u001b[2J\u001b]0;x\u0007" });
  expect(workerTable([hostile], PLAIN)).not.toContain("\u001b");
  expect(cutToColumns("漢字漢字", 5)).toBe("漢字…");
  expect(cutToColumns("漢字漢字", 8)).toBe("漢字漢字");
  expect(cutToColumns("plain", 5)).toBe("plain");
  expect(cutToColumns("plain text", 6)).toBe("plain…");
  expect(cutToColumns("plain", 0)).toBe("");
});

test("who needs somebody is told with what to type; what passes by itself is not", () => {
  const needy = [
    ...FLEET,
    sampleWorker("login", "on-hold", { attention: "not logged in" }),
    sampleWorker("lost", "unresumable", { attention: "its transcript is gone" }),
    sampleWorker("odd", "busy", { attention: "suspended" }),
    sampleWorker("mine", "blocked", { mode: "foreground" }),
  ];
  expect(attentionItems(needy).map(({ name, command, why }) => [name, command, why])).toEqual([
    ["coder-2", "perdure attach coder-2", "waits for your answer"],
    ["tester", "perdure logs tester", "crash-looping: started 5 times in 120 s, the last one: exit 1"],
    ["login", "perdure up login", "on-hold: not logged in"],
    ["lost", "perdure drill lost", "unresumable: its transcript is gone"],
    ["odd", "perdure show odd", "suspended"],
    ["mine", "perdure show mine", "waits for your answer"],
  ]);
  expect(attentionItems(FLEET, true)[0]).toMatchObject({ name: "api/coder-2", command: "perdure attach api/coder-2" });
  expect(attentionText([], PLAIN, 80)).toBe("");
  for (const line of attentionText(attentionItems(needy), PLAIN, 60).split("\n"))
    expect(line.length).toBeLessThanOrEqual(60);
});

test("the next command is the one that makes sense now", () => {
  const next = (state: Partial<Parameters<typeof suggestCommand>[0]>): string =>
    suggestCommand({ attention: [], workers: [], down: [], fleetSize: 0, leaving: null, ...state }).command;
  expect(next({})).toBe("perdure init");
  expect(next({ down: ["a", "b"], fleetSize: 2 })).toBe("perdure up");
  expect(next({ workers: FLEET, attention: attentionItems(FLEET), down: ["tester"], fleetSize: 6 })).toBe(
    "perdure attach coder-2",
  );
  expect(next({ workers: [sampleWorker("planner", "idle")], fleetSize: 1 })).toBe("perdure attach planner");
  expect(next({ workers: [sampleWorker("planner", "idle")], fleetSize: 1, isWorker: true })).toBe("perdure inbox");
  expect(next({ workers: [sampleWorker("docs", "backing-off")], down: ["docs"], fleetSize: 1 })).toBe(
    "perdure ls --watch",
  );
  expect(next({ workers: [sampleWorker("solo", "stopped", { mode: "foreground" })] })).toBe("perdure run solo");
  expect(next({ workers: [sampleWorker("solo", "busy", { mode: "foreground" })] })).toBe("perdure show solo");
});

test("workers are listed by address, numbers by their value, whatever the case", () => {
  const names = ["coder-10", "Coder-2", "coder-1", "a2b10", "a2b9", "tester", "coder"];
  const ordered = inOrderOfNames(names.map((name) => sampleWorker(name, "idle"))).map(({ name }) => name);
  expect(ordered).toEqual(["a2b9", "a2b10", "coder", "coder-1", "Coder-2", "coder-10", "tester"]);
});
