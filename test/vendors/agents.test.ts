import { expect, test } from "vitest";
import { isNested, walkToAgent } from "../../src/launch/nesting.ts";
import type { ProcessTable } from "../../src/runtime/process/index.ts";

const CODEX_JS = "/usr/local/lib/node_modules/@openai/codex/bin/codex.js";

/** Processes below a wrapper, outermost first: each has its pid, its parent's and its command line. */
type Tree = [pid: number, parent: number, argv: string[]][];

/** Which processes are asked, in order, if none of them shows anything, or if `shows` does. */
function asked(tree: Tree, shows?: number): number[] {
  const pids: number[] = [];
  const table: Pick<ProcessTable, "children" | "argv"> = {
    children: (pid) => tree.filter(([, parent]) => parent === pid).map(([child]) => child),
    argv: (pid) => tree.find(([each]) => each === pid)?.[2] ?? [],
  };
  walkToAgent(table as ProcessTable, 1, (pid) => {
    pids.push(pid);
    return pid === shows;
  });
  return pids;
}

test("the agent is found from the wrapper, through shells and launchers", () => {
  const tree: Tree = [
    [2, 1, ["npm exec @openai/codex --no-daemon resume x"]],
    [3, 2, ["sh", "-c", "'codex' --no-daemon resume x"]],
    [4, 3, ["node", CODEX_JS, "--no-daemon", "resume", "x"]],
    [5, 4, ["/opt/vendor/bin/codex", "--no-daemon", "resume", "x"]],
  ];
  expect(asked(tree)).toEqual([2, 3, 4, 5]);
  expect(asked(tree, 4)).toEqual([2, 3, 4]);
});

test("the agent is found through a launcher whose files are not called like the program", () => {
  const cli = "/usr/lib/node_modules/@qwen-code/qwen-code/cli.js";
  const tree: Tree = [
    [2, 1, ["node", "/usr/bin/qwen", "--resume", "x"]],
    [3, 2, ["/usr/bin/node", "--expose-gc", cli, "--resume", "x"]],
    [4, 3, ["/usr/bin/node", "--expose-gc", cli, "--resume", "x"]],
    [5, 4, ["bash", "-c", "qwen -p hi"]],
    [6, 5, ["node", "/usr/bin/qwen", "-p", "hi"]],
    [7, 4, ["/usr/bin/node", cli, "-p", "hi"]],
    [8, 4, ["/usr/bin/node", "/srv/cli.js"]],
  ];
  expect(asked(tree)).toEqual([2, 3, 4]);
});

test("processes below an agent are not searched: a shell of its tools, an agent in it, an agent it starts itself", () => {
  expect(
    asked([
      [2, 1, ["claude", "--resume", "x"]],
      [3, 2, ["/bin/zsh", "-c", "claude -p hi"]],
      [4, 3, ["claude", "-p", "hi"]],
      [5, 2, ["codex", "exec"]],
      [6, 2, ["claude", "-p", "hi"]],
    ]),
  ).toEqual([2]);
  expect(
    asked([
      [2, 1, ["node", CODEX_JS]],
      [3, 2, ["/opt/vendor/bin/codex"]],
      [4, 3, ["bash", "-lc", "codex exec hi"]],
      [5, 4, ["node", CODEX_JS, "exec", "hi"]],
      [6, 3, ["codex", "exec", "hi"]],
    ]),
  ).toEqual([2, 3]);
});

test("other children of the wrapper are searched, up to a bound", () => {
  expect(
    asked([
      [2, 1, ["sh", "-c", "logger & exec claude"]],
      [3, 2, ["logger"]],
      [4, 2, ["claude"]],
    ]),
  ).toEqual([2, 3, 4]);
  const endless = Array.from({ length: 5_000 }, (_, n): Tree[number] => [n + 2, n + 1, ["sh"]]);
  expect(asked(endless).length).toBeLessThan(1_000);
});

/** Tells whether the last process of a line, each the child of the one before, is nested; all of them carry the run. */
function nestedIn(...line: string[][]): boolean {
  const table: Pick<ProcessTable, "inspect" | "variable" | "argv"> = {
    inspect: (pid) => (line[pid - 2] ? { pid, parentPid: pid - 1 } : null) as ReturnType<ProcessTable["inspect"]>,
    variable: () => "vm.api.w.1",
    argv: (pid) => line[pid - 2] ?? [],
  };
  return isNested(table as ProcessTable, line.length + 1, "vm.api.w.1");
}

const SERVICES = {
  claude: [
    ["/opt/claude/claude", "daemon", "run", "--origin", "transient"],
    [
      "claude bg-pty-host",
      "--bg-pty-host",
      "/tmp/cc-daemon-0/a/spare/b.pty.sock",
      "200",
      "50",
      "--",
      "/opt/claude/claude",
    ],
    ["claude bg-spare", "--bg-spare", "/tmp/cc-daemon-0/a/spare/b.claim.sock"],
  ],
  codex: [
    ["/home/u/.codex/packages/app-server-daemon/bin/codex", "app-server", "--listen", "unix://", "--managed-daemon"],
  ],
};

test.each(Object.entries(SERVICES))(
  "B1: what %s's background service runs for somebody else is not the worker, whose variables the service inherited",
  (_vendor, services) => {
    expect(nestedIn(...services, ["sh", "-c", "perdure inbox"], ["perdure", "inbox"])).toBe(true);
  },
);
