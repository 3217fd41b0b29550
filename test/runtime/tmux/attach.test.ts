import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { attachPlan, type AttachRequest } from "../../../src/runtime/tmux/attach.ts";
import { findTmux } from "../../../src/runtime/tmux/find.ts";
import { looksSuspended } from "../../../src/runtime/tmux/suspended-screen.ts";
import { until } from "../../terminal/tmux.ts";
import { TmuxFixture, SLEEP } from "./tmux-fixture.ts";

const AT: AttachRequest = {
  insideTmux: undefined,
  file: "/usr/bin/tmux",
  socket: "/s/tmux, a b",
  session: "api",
  window: "@2",
  pane: "%3",
  folder: null,
  project: "api",
  worker: "w",
  where: "here",
  prefix: "C-b",
  outerPrefix: null,
};

test("attach inside our own server only switches the client, and nests nothing", () => {
  const plan = attachPlan({ ...AT, insideTmux: `${AT.socket},123,0` });
  expect(plan.argv.slice(0, 3)).toEqual([AT.file, "-S", AT.socket]);
  expect(plan.argv.slice(-3)).toEqual(["switch-client", "-t", "=api:@2"]);
  expect(plan).toMatchObject({ unset: [], notice: null });
});

test("attach inside the user's own tmux warns of the nesting, with the ways around it", () => {
  const plan = attachPlan({ ...AT, insideTmux: "/tmp/tmux-0/default,123,0" });
  expect(plan.unset).toEqual(["TMUX", "TMUX_PANE"]);
  expect(plan.notice).toMatch(
    /Ctrl-b Ctrl-b d leaves the worker's, and Ctrl-b d would detach your own.*--popup.*--window/s,
  );
  const other = attachPlan({ ...AT, insideTmux: "/tmp/tmux-0/default,123,0", outerPrefix: "C-a" });
  expect(other.notice).toMatch(/\nCtrl-b d leaves it again\.\n/);
  const same = attachPlan({ ...AT, insideTmux: "/tmp/tmux-0/default,123,0", prefix: "C-a", outerPrefix: "C-a" });
  expect(same.notice).toContain("Ctrl-a Ctrl-a d leaves the worker's");
  expect(attachPlan(AT).notice).toBeNull();
});

test("attach says that keys have to be pressed twice only inside a tmux with the same prefix", () => {
  const twice = (more: Partial<AttachRequest>): string | undefined =>
    /@perdure_twice'? (\w+)/.exec(attachPlan({ ...AT, ...more }).argv.join(" "))?.[1];
  const around = { insideTmux: "/tmp/tmux-0/default,123,0", outerPrefix: "C-b" };
  expect(twice(around)).toBe("on");
  expect(twice({ ...around, where: "window" })).toBe("on");
  expect(twice({ ...around, where: "popup" })).toBe("off");
  expect(twice({ ...around, outerPrefix: "C-a" })).toBe("off");
  expect(twice({ ...around, outerPrefix: "C-a", prefix: "C-a" })).toBe("on");
  expect(twice({ ...around, insideTmux: `${AT.socket},123,0` })).toBeUndefined();
  expect(twice({})).toBeUndefined();
});

test("a popup or a window needs a tmux around", () => {
  expect(() => attachPlan({ ...AT, where: "popup" })).toThrow(/not inside tmux, so no popup can be opened/);
  expect(() => attachPlan({ ...AT, where: "window" })).toThrow(expect.objectContaining({ code: "usage" }));
});

describe("with a terminal", () => {
  let fixture: TmuxFixture;
  let request: AttachRequest;
  let outer: string;
  const user = (...args: string[]): string => {
    const env = { ...fixture.env, TERM: "xterm-256color" };
    return execFileSync("tmux", ["-S", outer, "-f", "/dev/null", ...args], {
      env,
      encoding: "utf8",
      stdio: "pipe",
    }).trim();
  };
  /** The session and the pane that each client but our own shows. */
  const shown = (): string[] =>
    fixture
      .tmux("list-clients", "-F", "#{client_control_mode} #{s/@.*//:session_name} #{pane_id}")
      .split("\n")
      .filter((line) => line.startsWith("0 "))
      .map((line) => line.slice(2));
  /** For the command line of a tmux that is to run it: there a bare `;` would end the command. */
  const words = (argv: string[]): string[] => argv.map((word) => (word === ";" ? String.raw`\;` : word));

  beforeEach(async () => {
    fixture = new TmuxFixture();
    outer = join(fixture.dir, "it's #{pid} mine");
    const server = fixture.server();
    await Promise.all(["a", "b", "c"].map((name) => server.start(fixture.request(name, SLEEP))));
    await server.start(fixture.request("d", SLEEP, { project: "api2" }));
    const { pane } = await server.start(fixture.request("w", SLEEP, { group: "g" }));
    const window = fixture.tmux("display-message", "-p", "-t", pane, "#{window_id}");
    await server.start(fixture.request("x", SLEEP, { group: "g" }));
    request = { ...AT, file: findTmux(process.env.PATH).file, socket: fixture.socket, window, pane };
    user("new-session", "-d", "-x", "100", "-y", "30", "exec sleep 1000");
  });
  afterEach(async () => {
    user("kill-server");
    await fixture.clear();
  });

  test.each(["here", "window", "popup"] as const)("the worker's own pane is shown: %s", async (where) => {
    const plan = attachPlan({ ...request, insideTmux: `${outer},1,0`, where });
    const unset = plan.unset.flatMap((name) => ["-u", name]);
    // A popup is drawn on a client, so the user's server gets one: a terminal of a third server.
    const third = ["-S", join(fixture.dir, "third"), "-f", "/dev/null"];
    const env = { ...fixture.env, TERM: "xterm-256color" };
    execFileSync(
      "tmux",
      [...third, "new-session", "-d", "-x", "100", "-y", "30", "env", "-u", "TMUX", "tmux", "-S", outer, "attach"],
      { env },
    );
    try {
      await until("the user's client", () => (user("list-clients") === "" ? null : true));
      user("new-window", "/usr/bin/env", ...unset, ...words(plan.argv));
      expect(await until("the pane", () => (shown().length > 0 ? shown() : null))).toEqual([`api ${request.pane}`]);
    } finally {
      execFileSync("tmux", [...third, "kill-server"], { env });
    }
  });

  test("inside our own server the client goes over", async () => {
    user("new-window", "/usr/bin/env", "-u", "TMUX", request.file, "-S", fixture.socket, "attach", "-t", "=api2:");
    await until("the client", () => (shown()[0]?.startsWith("api2 ") ? true : null));
    const plan = attachPlan({ ...request, insideTmux: `${fixture.socket},1,0` });
    // As a command of somebody in a pane there.
    fixture.tmux("new-window", "-t", "=api2:", ...words(plan.argv));
    expect(await until("the pane", () => (shown()[0] === `api ${request.pane}` ? shown() : null))).toHaveLength(1);
  });
});

test.each([
  [
    "Claude Code has been suspended. Run `fg` to bring Claude Code back.\nNote: ctrl + z now suspends Claude Code.\nhello?",
    true,
  ],
  ["❯ hi\n\nsuspended, use fg to resume\n\n\n", true],
  ["the job was suspended\nand went on", false],
  [`suspended, use fg\n${"more work\n".repeat(20)}`, false],
  ["", false],
])("%j looks suspended: %s", (text, suspended) => {
  expect(looksSuspended(text)).toBe(suspended);
});
