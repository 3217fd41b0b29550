import { expect, test } from "vitest";
import type { Pane } from "../../../src/runtime/tmux/pane-list.ts";
import { PaneWatch } from "../../../src/runtime/tmux/pane-watch.ts";

const PANE: Pane = {
  id: "%1",
  pid: 10,
  dead: false,
  exitStatus: null,
  exitSignal: null,
  session: "api",
  window: "@1",
  windowIndex: 1,
  windowName: "w",
  group: null,
  workerId: "w",
  run: "r1",
  title: "",
};

/** The reports of a PaneWatch for each look, one after the other. */
function told(...looks: Partial<Pane>[][]): string[][] {
  const watch = new PaneWatch();
  let heard: string[] = [];
  watch.onDied(({ pane, gone }) => heard.push(`${pane.run} ${gone ? "gone" : `ended ${pane.exitStatus}`}`));
  watch.onTitle((pane, title) => heard.push(`${pane.run} is ${title}`));
  return looks.map((panes) => {
    heard = [];
    watch.update(panes.map((pane) => ({ ...PANE, ...pane })));
    return heard;
  });
}

const DEAD = { dead: true, exitStatus: 3 };

test("an end is told once, and so is one from before we looked", () => {
  expect(told([{}], [DEAD], [DEAD])).toEqual([[], ["r1 ended 3"], []]);
  expect(told([DEAD], [DEAD])).toEqual([["r1 ended 3"], []]);
});

test("how it ended is told when it is learned afterwards", () => {
  expect(told([{}], [{ dead: true }], [DEAD])).toEqual([[], ["r1 ended null"], ["r1 ended 3"]]);
});

test("a pane that went with its process is told as gone; one that was removed after its end is not told again", () => {
  expect(told([{}], [])).toEqual([[], ["r1 gone"]]);
  expect(told([{}], [DEAD], [])).toEqual([[], ["r1 ended 3"], []]);
});

test("another run in the same pane, or under the same number of another server, is the end of the one before", () => {
  expect(told([{}], [{ run: "r2" }])).toEqual([[], ["r1 gone"]]);
  expect(told([{}], [DEAD], [{ run: "r2" }], [{ ...DEAD, run: "r2" }])).toEqual([
    [],
    ["r1 ended 3"],
    [],
    ["r2 ended 3"],
  ]);
  expect(told([{}], [{ ...DEAD, run: "r2" }])).toEqual([[], ["r1 gone", "r2 ended 3"]]);
});

test("a title is told when it changes; nobody's panes are no news", () => {
  const nobody = { id: "%2", workerId: null, title: "x" };
  expect(told([{}], [{ title: "a" }, nobody], [{ title: "a" }], [{ title: "" }])).toEqual([
    [],
    ["r1 is a"],
    [],
    ["r1 is "],
  ]);
});
