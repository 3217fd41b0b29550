import { expect, onTestFinished, test } from "vitest";
import { findDaemons, type ProcessInfo, type ProcessTable } from "../../../src/runtime/process/index.ts";
import { statePaths } from "../../../src/state/paths.ts";

const HOME = "/home/someone";
const paths = statePaths({ HOME });

function tableOf(
  processes: readonly Pick<ProcessInfo, "pid" | "parentPid">[],
  home: string | null = HOME,
): ProcessTable {
  const table: Partial<ProcessTable> = {
    commandLines: () => processes.map(({ pid }) => ({ pid, argv: ["/usr/bin/node", "/opt/perdure/dist/daemon.cjs"] })),
    inspect(pid) {
      const found = processes.find((each) => each.pid === pid);
      return found
        ? { ...found, startedAt: "1", bootId: "b", namespace: "n", suspended: false, command: "node" }
        : null;
    },
    variable: (_pid, name) => (name === "HOME" ? home : null),
    openFiles: () => [paths.database],
  };
  return table as ProcessTable;
}

test("what a daemon starts is no second daemon, as long as it has not become its program", () => {
  const table = tableOf([
    { pid: 10, parentPid: 1 },
    { pid: 11, parentPid: 10 },
  ]);
  expect(findDaemons(table, paths).map(({ pid }) => pid)).toEqual([10]);
});

test("two daemons are two, whoever started them", () => {
  const table = tableOf([
    { pid: 10, parentPid: 1 },
    { pid: 11, parentPid: 1 },
  ]);
  expect(findDaemons(table, paths).map(({ pid }) => pid)).toEqual([10, 11]);
});

test.each([null, ""])(
  "a daemon whose HOME is %j works for its user's own home, not for that of whoever looks",
  (home) => {
    const before = process.env.HOME;
    onTestFinished(() => {
      process.env.HOME = before;
    });
    process.env.HOME = HOME;
    expect(findDaemons(tableOf([{ pid: 10, parentPid: 1 }], home), paths)).toEqual([]);
  },
);
