import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { showsPane, type AttachedClient } from "../../../src/runtime/tmux/clients.ts";
import type { Pane } from "../../../src/runtime/tmux/pane-list.ts";
import { until } from "../../terminal/tmux.ts";
import { SLEEP, TmuxFixture } from "./tmux-fixture.ts";

let fixture: TmuxFixture;
beforeEach(() => {
  fixture = new TmuxFixture();
});
afterEach(() => fixture.clear());

/** A terminal of 100 by 20 that is attached to the project's session, or to whatever else this command shows. */
function attached(command = `exec env -u TMUX tmux -u -S ${fixture.socket} attach -t =api:`): {
  screen: () => string;
  bell: () => string;
  keys: (...keys: string[]) => void;
  end: () => void;
} {
  const outer = (...args: string[]): string =>
    execFileSync("tmux", ["-u", "-S", join(fixture.dir, "o"), "-f", "/dev/null", ...args], {
      env: { ...fixture.env, TERM: "xterm-256color" },
      encoding: "utf8",
    });
  outer("new-session", "-d", "-x", "100", "-y", "20", command);
  return {
    screen: () => outer("capture-pane", "-p"),
    bell: () => outer("display-message", "-p", "#{window_bell_flag}").trim(),
    keys: (...keys) => void outer("send-keys", ...keys),
    end: () => void outer("kill-server"),
  };
}

const asks = { state: "blocked", needsSomebody: true, says: "" };
const works = { state: "busy", needsSomebody: false, says: "" };

test("who needs somebody is marked in the status line and in the list of workers, which has no session of ours", async () => {
  const server = fixture.server();
  for (const worker of ["one", "two"]) await server.start(fixture.request(worker, SLEEP));
  await server.start(fixture.request("three", SLEEP, { group: "pair" }));
  await server.start(fixture.request("four", SLEEP, { group: "pair" }));
  await server.mark(
    new Map([
      ["id-one", works],
      ["id-two", asks],
      ["id-three", asks],
      ["id-four", works],
    ]),
  );
  const terminal = attached();
  try {
    await until("the marks", () => (/1:one\* 2:two◆ 3:pair◆ .*◆ needs you/.test(terminal.screen()) ? true : null));
    terminal.keys("C-b", "w");
    await until("the list", () => (/2: two◆ {2}blocked/.test(terminal.screen()) ? true : null));
    expect(terminal.screen()).toMatch(/1: one {2}busy/);
    expect(terminal.screen()).toMatch(/3: pair◆/);
    expect(terminal.screen()).not.toContain("_perdure");
    terminal.keys("q");
    await server.mark(
      new Map([
        ["id-two", works],
        ["id-three", works],
      ]),
    );
    await until("no mark", () => (/2:two 3:pair /.test(terminal.screen()) ? true : null));
    expect(terminal.screen()).not.toContain("needs you");
  } finally {
    terminal.end();
  }
});

test("a status line of the user's own tmux shows who needs them, as the guide says", async () => {
  const server = fixture.server();
  for (const worker of ["one", "two"]) await server.start(fixture.request(worker, SLEEP));
  const guide = readFileSync("docs/guide/use-your-own-tmux.md", "utf8");
  const lines = /```tmux\n([^]*?)```/.exec(guide)?.[1]?.replaceAll("~/.local/state/perdure/tmux", fixture.socket) ?? "";
  const conf = join(fixture.dir, "own.conf");
  writeFileSync(conf, lines.replace("status-interval 5", "status-interval 1"));
  const own = (...args: string[]): string =>
    execFileSync("tmux", ["-u", "-S", join(fixture.dir, "own"), "-f", conf, ...args], { encoding: "utf8" });
  own("new-session", "-d", "-x", "100", "-y", "10", "-s", "mine", "sleep 600");
  const terminal = attached(`exec env -u TMUX tmux -u -S ${join(fixture.dir, "own")} attach`);
  try {
    await until("their own line", () => (/0:sleep\* +[0-9]{2}:[0-9]{2}/.test(terminal.screen()) ? true : null));
    await server.mark(new Map([["id-two", asks]]));
    await until("who needs them", () => (terminal.screen().includes("◆") ? true : null));
    expect(terminal.screen()).toMatch(/◆ two +[0-9]{2}:[0-9]{2}/);
  } finally {
    terminal.end();
    own("kill-server");
  }
});

test("a pane that comes after its mark gets it, and so does one that takes another's place", async () => {
  const server = fixture.server();
  await server.start(fixture.request("one", SLEEP));
  await server.mark(new Map([["id-two", asks]]));
  const { pane } = await server.start(fixture.request("two", ["/bin/true"]));
  const shown = (id: string): string => fixture.tmux("display-message", "-p", "-t", id, "#{@perdure_state}");
  await until("the mark", () => (shown(pane) === "blocked" ? true : null));
  await until("its end", async () => ((await server.panes()).find(({ id }) => id === pane)?.dead ? true : null));
  const next = await server.start(fixture.request("two", SLEEP, { run: "host.api.two.2" }));
  await server.mark(new Map([["id-two", works]]));
  expect(next.pane).not.toBe(pane);
  expect(shown(next.pane)).toBe("busy");
});

test("below the last screen of a worker that has ended stands why, until its next run", async () => {
  const server = fixture.server();
  await server.start(fixture.request("one", ["/bin/true"]));
  await server.start(fixture.request("two", SLEEP, { group: "pair" }));
  const terminal = attached();
  const shows = (what: string, pattern: RegExp): Promise<true> =>
    until(what, () => (pattern.test(terminal.screen()) ? true : null));
  try {
    await shows("its end", /\[one has ended with code 0\]/);
    const lost = {
      state: "unresumable",
      needsSomebody: true,
      says: "unresumable: #[fg=red]gone → perdure drill api/one",
    };
    await server.mark(new Map([["id-one", lost]]));
    await shows("why", / one◆ unresumable: #\[fg=red\]gone → perdure drill api\/one/);
    expect(terminal.screen()).toContain("[one has ended with code 0]");
    await server.start(fixture.request("one", SLEEP, { run: "host.api.one.2" }));
    await server.mark(new Map([["id-one", works]]));
    await until("nothing", () => (terminal.screen().includes("gone") ? null : true));
    expect(terminal.screen()).not.toMatch(/─{20}/);

    const ended = { ...lost, state: "on-hold", says: "on-hold: not logged in" };
    await server.mark(new Map([["id-one", ended]]));
    await shows("why, again", /on-hold: not logged in/);
    await server.mark(new Map([["id-one", works]]));
    await until("nothing", () => (/on-hold|─{20}/.test(terminal.screen()) ? null : true));
  } finally {
    terminal.end();
  }
});

test("the bell of attached terminals rings, and it is known which pane they show", async () => {
  const server = fixture.server();
  const { pane } = await server.start(fixture.request("one", SLEEP));
  const { pane: other } = await server.start(fixture.request("two", SLEEP));
  expect(await server.ring()).toBe(0);
  const terminal = attached();
  try {
    const { clients, panes } = await until("the client", async () => {
      const found = await server.clients();
      return found.clients.length === 1 ? found : null;
    });
    const sees = (id: string): boolean => panes.some((each) => each.id === id && showsPane(clients[0]!, each, 0));
    expect([sees(pane), sees(other)]).toEqual([true, false]);
    expect(await server.ring()).toBe(1);
    await until("the bell", () => (terminal.bell() === "1" ? true : null));
  } finally {
    terminal.end();
  }
});

test("a terminal looks at what it shows while it has the focus and somebody presses keys", () => {
  const pane = { id: "%1", window: "@1" } as Pane;
  const client: AttachedClient = { tty: "", window: "@1", pane: "%1", isZoomed: false, isFocused: true, lastKeyMs: 10 };
  expect(showsPane(client, pane, 10)).toBe(true);
  expect(showsPane({ ...client, pane: "%2" }, pane, 10)).toBe(true);
  expect(showsPane({ ...client, pane: "%2", isZoomed: true }, pane, 10)).toBe(false);
  expect(showsPane({ ...client, window: "@2" }, pane, 10)).toBe(false);
  expect(showsPane({ ...client, isFocused: false }, pane, 10)).toBe(false);
  expect(showsPane(client, pane, 11)).toBe(false);
});

test("the user's own file is read last, but for what keeps workers alive", async () => {
  const file = join(fixture.dir, "mine.conf");
  writeFileSync(file, "set -g prefix C-a\nset -g status-left mine\nset -g remain-on-exit off\nset -s exit-empty on\n");
  const server = fixture.server({ userFile: () => file });
  await server.start(fixture.request("one", SLEEP));
  const option = (scope: string, name: string): string => fixture.tmux("show-options", scope, name);
  expect(option("-gv", "prefix")).toBe("C-a");
  expect(option("-gv", "status-left")).toBe("mine");
  expect(option("-gwv", "remain-on-exit")).toBe("on");
  expect(option("-sv", "exit-empty")).toBe("off");
  expect(option("-sv", "extended-keys")).toBe("on");

  fixture.tmux("set-option", "-g", "status-left", "by hand");
  await server.readChangedUserFile();
  expect(option("-gv", "status-left")).toBe("by hand");
  writeFileSync(file, "set -g prefix C-Space\nset -g remain-on-exit off\n");
  await server.readChangedUserFile();
  expect([option("-gv", "prefix"), option("-gwv", "remain-on-exit")]).toEqual(["C-Space", "on"]);
});

test("a mistake in the user's file is logged, and keeps nobody from working", async () => {
  const file = join(fixture.dir, "mine.conf");
  writeFileSync(file, "nonsense here\n");
  await fixture.server({ userFile: () => file }).start(fixture.request("one", SLEEP));
  expect(fixture.log.join("\n")).toMatch(/mine\.conf.*unknown command: nonsense/);
});

test("another daemon does not add terminal features again", async () => {
  await fixture.server().start(fixture.request("one", SLEEP));
  await fixture.server().panes();
  const lines = fixture.tmux("show-options", "-s", "terminal-features").split("\n");
  expect(lines.filter((line) => line.includes("extkeys"))).toHaveLength(1);
});
