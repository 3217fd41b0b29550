import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findTmux, isOlder } from "../../../src/runtime/tmux/find.ts";
import { until } from "../../terminal/tmux.ts";
import { TmuxFixture, SLEEP } from "./tmux-fixture.ts";

let fixture: TmuxFixture;
beforeEach(() => {
  fixture = new TmuxFixture();
});
afterEach(() => fixture.clear());

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
  const ran = join(fixture.dir, "ran");
  const conf = `set -g prefix C-a\nset -g mouse off\nset -g remain-on-exit off\nset -s exit-empty on\nrun-shell "touch ${ran}"\nnonsense here\n`;
  writeFileSync(join(fixture.dir, ".tmux.conf"), conf);
  mkdirSync(join(fixture.dir, ".config", "tmux"), { recursive: true });
  writeFileSync(join(fixture.dir, ".config", "tmux", "tmux.conf"), conf);
  await fixture.server().start(fixture.request("w", SLEEP));
  for (const [scope, name, value] of WANTED)
    expect([name, fixture.tmux("show-options", scope, name)]).toEqual([name, value]);
  expect(existsSync(ran)).toBe(false);
});

test("another daemon puts right what was changed", async () => {
  await fixture.server().start(fixture.request("w", SLEEP));
  fixture.tmux("set-option", "-g", "remain-on-exit", "off");
  await fixture.server().panes();
  expect(fixture.tmux("show-options", "-gwv", "remain-on-exit")).toBe("on");
});

test("our client changes no window's size; somebody who looks does", async () => {
  const server = fixture.server();
  const { pane } = await server.start(fixture.request("w", SLEEP));
  const size = (): string => fixture.tmux("display-message", "-p", "-t", pane, "#{window_width}x#{window_height}");
  expect(size()).toBe("200x50");
  // A terminal of 90 by 30, by another tmux.
  const outer = ["-S", join(fixture.dir, "o"), "-f", "/dev/null"];
  const inner = `exec env -u TMUX tmux -S ${fixture.socket} attach -t =api:`;
  const run = async (args: string[]): Promise<void> => {
    const child = spawn("tmux", [...outer, ...args], {
      env: { ...fixture.env, TERM: "xterm-256color" },
      stdio: "ignore",
    });
    await once(child, "close");
  };
  await run(["new-session", "-d", "-x", "90", "-y", "30", inner]);
  try {
    await until("the smaller size", () => (size().startsWith("90x") ? true : null));
  } finally {
    await run(["kill-server"]);
  }
  await server.start(fixture.request("x", SLEEP));
  expect(size()).toMatch(/^90x/);
});

test("tmux is found with its version, or it is said how to get it", () => {
  expect(findTmux(process.env.PATH)).toMatchObject({
    file: expect.stringMatching(/^\/.*\/tmux$/),
    version: expect.any(String),
  });
  expect(() => findTmux(fixture.dir)).toThrow(
    expect.objectContaining({ code: "unavailable", hint: expect.stringContaining("install") }),
  );
  const old = join(fixture.dir, "tmux");
  writeFileSync(old, "#!/bin/sh\necho tmux 2.9a\n", { mode: 0o700 });
  expect(() => findTmux(fixture.dir)).toThrow(/tmux 2\.9a; 3\.2 or newer/);
  writeFileSync(old, "#!/bin/sh\nexit 3\n", { mode: 0o700 });
  expect(() => findTmux(fixture.dir)).toThrow(/-V failed/);
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
