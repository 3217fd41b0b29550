import { readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../terminal/tmux.ts";
import { TmuxFixture, sh, SLEEP } from "./tmux-fixture.ts";

let fixture: TmuxFixture;
beforeEach(() => {
  fixture = new TmuxFixture();
});
afterEach(() => fixture.clear());

const workersOf = (panes: { workerId: string | null }[]): (string | null)[] =>
  panes.map(({ workerId }) => workerId).filter((id) => id !== null);

/** Every window with its panes, in order: where each is, how large, of which worker, and where a client looks. */
function places(): string {
  const window = "#{session_name} #{window_index} #{window_id} #{window_name} #{window_active}";
  const pane =
    "#{pane_left},#{pane_top} #{pane_width}x#{pane_height} #{pane_active} #{@perdure_worker} #{@perdure_name}";
  return fixture.tmux("list-panes", "-a", "-F", `${window} ${pane}`);
}

test("a worker is the pane's own process, in its folder, marked from its first instant, in an environment of nobody", async () => {
  const server = fixture.server();
  const { pane, pid } = await server.start(fixture.request("backend", SLEEP));
  // Right after its fork it still is tmux's own image.
  await until("its exec", () =>
    readFileSync(`/proc/${pid}/cmdline`, "utf8") === `${SLEEP.join("\0")}\0` ? true : null,
  );
  const environ = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  expect(readlinkSync(`/proc/${pid}/cwd`)).toBe(fixture.dir);
  expect(environ).toContain("PERDURE_RUN=host.api.backend.1");
  expect(environ.filter((entry) => /^(SECRET|SSH_|PERDURE_)/.test(entry))).toEqual(["PERDURE_RUN=host.api.backend.1"]);
  const seen = (await server.panes()).find(({ id }) => id === pane);
  expect(seen).toMatchObject({ pid, dead: false, session: "api", windowName: "backend", workerId: "id-backend" });
  expect(seen).toMatchObject({ run: "host.api.backend.1", exitStatus: null, exitSignal: null, group: null, title: "" });
});

test("fifty workers of three projects start at once, each in a window of its own", async () => {
  const server = fixture.server();
  const names = Array.from({ length: 50 }, (_, index) => `w${index}`);
  const started = await Promise.all(
    names.map((name, index) => server.start(fixture.request(name, SLEEP, { project: `p${index % 3}` }))),
  );
  const panes = await server.panes();
  expect(new Set(started.map(({ pane }) => pane)).size).toBe(50);
  expect(new Set(workersOf(panes))).toEqual(new Set(names.map((name) => `id-${name}`)));
  for (const [index, { pane, pid }] of started.entries()) {
    expect(panes.find(({ id }) => id === pane)).toMatchObject({
      pid,
      session: `p${index % 3}`,
      windowName: `w${index}`,
    });
  }
});

test("panes that are not where they were expected are found by listing again", async () => {
  const server = fixture.server();
  await server.ensure();
  fixture.tmux("set-option", "-g", "base-index", "3");
  const names = ["a", "b", "c", "d", "e"];
  const started = await Promise.all(names.map((name) => server.start(fixture.request(name, SLEEP))));
  const panes = await server.panes();
  for (const [index, { pane, pid }] of started.entries()) {
    const windowName = names[index];
    expect(panes.find(({ id }) => id === pane)).toMatchObject({ pid, windowName, workerId: `id-${windowName}` });
  }
  expect(workersOf(panes)).toHaveLength(names.length);
});

test("an ended worker's pane keeps how it ended and what it said; its next start takes its place", async () => {
  const server = fixture.server();
  await server.start(fixture.request("first", SLEEP));
  // tmux may lose what is said in the very moment of the end, so that is not what it ends with.
  const script = "echo last words; while [ ! -e go ]; do sleep 0.01; done; exit 7";
  const { pane } = await server.start(fixture.request("second", sh(script)));
  await server.start(fixture.request("third", SLEEP));
  await until("its words", async () => (await server.capture(pane, { lines: 10 })) || null);
  writeFileSync(join(fixture.dir, "go"), "");
  const look = async () =>
    (await server.panes()).find(({ id, exitStatus }) => id === pane && exitStatus !== null) ?? null;
  expect(await until("the end", look)).toMatchObject({ dead: true, exitStatus: 7, exitSignal: null });
  expect(await server.capture(pane, { lines: 10 })).toBe("last words\n\n[second has ended with code 7]");
  const before = places();
  const again = await server.start(fixture.request("second", SLEEP, { run: "host.api.second.2" }));
  expect(places()).toBe(before);
  const own = (await server.panes()).filter(({ workerId }) => workerId === "id-second");
  expect(own).toMatchObject([{ id: again.pane, pid: again.pid, dead: false, run: "host.api.second.2" }]);
});

test("B5: a pane that takes another's place has its focus, its zoom and its options, beside a pane that a person opened", async () => {
  const server = fixture.server();
  const start = (run: string, argv: string[]) =>
    server.start(fixture.request("w", argv, { run, group: "pair", project: "api" }));
  const ended = async (run: string) => {
    await until("its end", async () => (await server.panes()).find((pane) => pane.run === run && pane.dead) ?? null);
  };
  const first = await start("r1", sh("exit 0"));
  await server.start(fixture.request("mate", SLEEP, { group: "pair" }));
  await server.start(fixture.request("elsewhere", SLEEP));
  await ended("r1");
  fixture.tmux("split-window", "-d", "-h", "-t", first.pane, "-l", "30", ...SLEEP);
  fixture.tmux("set-option", "-p", "-t", first.pane, "remain-on-exit", "on");
  fixture.tmux("set-option", "-p", "-t", first.pane, "@note", 'two words, a "quote"; and #{more}');
  fixture.tmux("select-window", "-t", first.pane);
  fixture.tmux("select-pane", "-t", first.pane);
  const before = places();
  const second = await start("r2", sh("exit 0"));
  expect(places()).toBe(before);
  expect(fixture.tmux("display-message", "-p", "-t", "=api:", "#{pane_id}")).toBe(second.pane);
  const options = fixture.tmux("show-options", "-p", "-t", second.pane).split("\n");
  expect(options).toContain("@perdure_name w");
  expect(options).toContain("remain-on-exit on");
  expect(fixture.tmux("show-options", "-pv", "-t", second.pane, "@note")).toBe('two words, a "quote"; and #{more}');
  await ended("r2");
  fixture.tmux("resize-pane", "-Z", "-t", second.pane);
  const third = await start("r3", SLEEP);
  expect(fixture.tmux("display-message", "-p", "-t", "=api:", "#{pane_id} #{window_zoomed_flag}")).toBe(
    `${third.pane} 1`,
  );
});

test("B5: a pane that takes another's place leaves the focus where it is, and the program draws for its own size", async () => {
  const server = fixture.server();
  const start = (name: string, run: string, argv: string[]) =>
    server.start(fixture.request(name, argv, { run, group: "pair" }));
  await start("w", "r1", sh("exit 0"));
  const mate = await start("mate", "m", SLEEP);
  await until("its end", async () => (await server.panes()).find((pane) => pane.run === "r1" && pane.dead) ?? null);
  fixture.tmux("select-pane", "-t", mate.pane);
  const again = await start("w", "r2", sh("while :; do stty size; sleep 0.05; done"));
  expect(fixture.tmux("display-message", "-p", "-t", "=api:", "#{pane_id}")).toBe(mate.pane);
  const size = fixture.tmux("display-message", "-p", "-t", again.pane, "#{pane_height} #{pane_width}");
  await until("its size", async () => ((await server.capture(again.pane, { lines: 1 })) === size ? true : null));
});

test("a worker that was killed by a signal is reported as such", async () => {
  const server = fixture.server();
  const { pane } = await server.start(fixture.request("w", sh("kill -9 $$")));
  const look = async () =>
    (await server.panes()).find(({ id, exitSignal }) => id === pane && exitSignal !== null) ?? null;
  expect(await until("the end", look)).toMatchObject({ exitStatus: null, exitSignal: 9 });
});

test("the same run is not started twice, another one not beside it", async () => {
  const server = fixture.server();
  const [first, second] = await Promise.all([
    server.start(fixture.request("w", SLEEP)),
    server.start(fixture.request("w", SLEEP)),
  ]);
  expect(second).toEqual(first);
  await expect(server.start(fixture.request("w", SLEEP, { run: "host.api.w.2" }))).rejects.toMatchObject({
    code: "conflict",
  });
  expect(workersOf(await server.panes())).toEqual(["id-w"]);
});

test("a group shares a window in the order of its coming; one that ends comes back in its place", async () => {
  const server = fixture.server();
  const names = ["a", "b", "c", "d"];
  const start = (name: string, argv: string[], run = `r-${name}`) =>
    server.start(fixture.request(name, argv, { group: "pair", run }));
  const started = await Promise.all(names.map((name) => start(name, name === "b" ? sh("exit 0") : SLEEP)));
  const alone = await server.start(fixture.request("alone", SLEEP));
  const panes = await server.panes();
  const mates = panes.filter(({ group }) => group === "pair");
  expect(mates.map(({ id }) => id)).toEqual(started.map(({ pane }) => pane));
  expect(new Set(mates.map(({ window }) => window)).size).toBe(1);
  expect(mates[0]).toMatchObject({ windowName: "pair" });
  expect(panes.find(({ id }) => id === alone.pane)?.window).not.toBe(mates[0]?.window);
  await until(
    "the end of b",
    async () => (await server.panes()).find(({ workerId, dead }) => workerId === "id-b" && dead) ?? null,
  );
  const before = places();
  const again = await start("b", SLEEP, "r-b2");
  expect(places()).toBe(before);
  expect((await server.panes()).filter(({ group }) => group === "pair")[1]).toMatchObject({ id: again.pane });
});

test("a worker that changed its group or its project's slug leaves no pane behind", async () => {
  const server = fixture.server();
  const ended = async (run: string) => {
    await until("its end", async () => (await server.panes()).find((pane) => pane.run === run && pane.dead) ?? null);
  };
  await server.start(fixture.request("w", sh("exit 0"), { run: "r1" }));
  await ended("r1");
  await server.start(fixture.request("w", sh("exit 0"), { run: "r2", group: "pair" }));
  await ended("r2");
  await server.start(fixture.request("w", SLEEP, { run: "r3", group: "pair", project: "api2" }));
  const own = (await server.panes()).filter(({ workerId }) => workerId === "id-w");
  expect(own).toMatchObject([{ run: "r3", group: "pair", session: "api2", dead: false }]);
});

test("a group too large for one window gets another", async () => {
  const server = fixture.server();
  const names = Array.from({ length: 20 }, (_, index) => `m${index}`);
  await Promise.all(names.map((name) => server.start(fixture.request(name, SLEEP, { group: "crowd" }))));
  const crowd = (await server.panes()).filter(({ group }) => group === "crowd");
  expect(crowd).toHaveLength(20);
  expect(new Set(crowd.map(({ window }) => window)).size).toBe(3);
});

test("a folder that is not there is refused, not replaced by the home folder", async () => {
  const server = fixture.server();
  const cwd = join(fixture.dir, "nowhere");
  await expect(server.start(fixture.request("w", SLEEP, { cwd }))).rejects.toMatchObject({ code: "not-found" });
  writeFileSync(cwd, "");
  await expect(server.start(fixture.request("w", SLEEP, { cwd }))).rejects.toMatchObject({ code: "not-found" });
});

test("a renamed worker is shown by its new name and found as before; in a group the window keeps the group's", async () => {
  const server = fixture.server();
  const { pane } = await server.start(fixture.request("old", SLEEP));
  const mate = await server.start(fixture.request("mate", SLEEP, { group: "pair" }));
  await server.rename("id-old", "new");
  await server.rename("id-mate", "friend");
  await server.rename("id-nobody", "x");
  expect((await server.panes()).find(({ id }) => id === pane)).toMatchObject({ workerId: "id-old", windowName: "new" });
  expect(fixture.tmux("display-message", "-p", "-t", mate.pane, "#{window_name} #{@perdure_name}")).toBe("pair friend");
});

test("a removed pane is gone with its process; removing it again is no error", async () => {
  const server = fixture.server();
  const { pane, pid } = await server.start(fixture.request("w", SLEEP));
  await server.removePane(pane, "somebody else's run");
  expect(workersOf(await server.panes())).toEqual(["id-w"]);
  await server.removePane(pane, "host.api.w.1");
  await server.removePane(pane);
  expect(workersOf(await server.panes())).toEqual([]);
  await until("the process's end", () => {
    try {
      return process.kill(pid, 0) ? null : true;
    } catch {
      return true;
    }
  });
});
