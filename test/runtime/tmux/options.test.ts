import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findTmux, isOlder } from "../../../src/runtime/tmux/find.ts";
import { until } from "../../terminal/tmux.ts";
import { Bed, STAY } from "./bed.ts";

let bed: Bed;
beforeEach(() => {
  bed = new Bed();
});
afterEach(() => bed.clear());

const WANTED: [scope: string, name: string, value: string][] = [
  ["-gv", "prefix", "C-b"],
  ["-gv", "mouse", "on"],
  ["-gv", "history-limit", "10000"],
  ["-gv", "update-environment", ""],
  ["-gv", "destroy-unattached", "off"],
  ["-gv", "set-titles", "off"],
  ["-sv", "exit-empty", "off"],
  ["-sv", "escape-time", "10"],
  ["-gwv", "remain-on-exit", "on"],
  ["-gwv", "allow-rename", "off"],
  ["-gwv", "automatic-rename", "off"],
];

test("somebody's ~/.tmux.conf is not read, at the start nor afterwards", async () => {
  const ran = join(bed.dir, "ran");
  const conf = `set -g prefix C-a\nset -g mouse off\nset -g remain-on-exit off\nset -s exit-empty on\nrun-shell "touch ${ran}"\nnonsense here\n`;
  writeFileSync(join(bed.dir, ".tmux.conf"), conf);
  mkdirSync(join(bed.dir, ".config", "tmux"), { recursive: true });
  writeFileSync(join(bed.dir, ".config", "tmux", "tmux.conf"), conf);
  await bed.server().start(bed.request("w", STAY));
  for (const [scope, name, value] of WANTED)
    expect([name, bed.tmux("show-options", scope, name)]).toEqual([name, value]);
  expect(existsSync(ran)).toBe(false);
});

test("another daemon puts right what was changed", async () => {
  await bed.server().start(bed.request("w", STAY));
  bed.tmux("set-option", "-g", "remain-on-exit", "off");
  await bed.server().panes();
  expect(bed.tmux("show-options", "-gwv", "remain-on-exit")).toBe("on");
});

test("our client changes no window's size; somebody who looks does", async () => {
  const server = bed.server();
  const { pane } = await server.start(bed.request("w", STAY));
  const size = (): string => bed.tmux("display-message", "-p", "-t", pane, "#{window_width}x#{window_height}");
  expect(size()).toBe("200x50");
  // A terminal of 90 by 30, by another tmux.
  const outer = ["-S", join(bed.dir, "o"), "-f", "/dev/null"];
  const inner = `exec env -u TMUX tmux -S ${bed.socket} attach -t =api:`;
  const run = async (args: string[]): Promise<void> => {
    const child = spawn("tmux", [...outer, ...args], { env: { ...bed.env, TERM: "xterm-256color" }, stdio: "ignore" });
    await once(child, "close");
  };
  await run(["new-session", "-d", "-x", "90", "-y", "30", inner]);
  try {
    await until("the smaller size", () => (size().startsWith("90x") ? true : null));
  } finally {
    await run(["kill-server"]);
  }
  await server.start(bed.request("x", STAY));
  expect(size()).toMatch(/^90x/);
});

test("tmux is found with its version, or it is said how to get it", () => {
  expect(findTmux(process.env.PATH)).toMatchObject({
    file: expect.stringMatching(/^\/.*\/tmux$/),
    version: expect.any(String),
  });
  expect(() => findTmux(bed.dir)).toThrow(
    expect.objectContaining({ code: "unavailable", hint: expect.stringContaining("install") }),
  );
  const old = join(bed.dir, "tmux");
  writeFileSync(old, "#!/bin/sh\necho tmux 2.9a\n", { mode: 0o700 });
  expect(() => findTmux(bed.dir)).toThrow(/tmux 2\.9a; 3\.2 or newer/);
  writeFileSync(old, "#!/bin/sh\nexit 3\n", { mode: 0o700 });
  expect(() => findTmux(bed.dir)).toThrow(/-V failed/);
});

test.each([
  ["3.2", false],
  ["3.3a", false],
  ["3.10", false],
  ["next-3.6", false],
  ["master", false],
  ["openbsd-7.5", false],
  ["4.0", false],
  ["3.1c", true],
  ["2.9", true],
])("version %s is too old: %s", (version, older) => {
  expect(isOlder(version, "3.2")).toBe(older);
});
