import { once } from "node:events";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { until } from "../../terminal/tmux.ts";
import { findTmux } from "../../../src/runtime/tmux/find.ts";
import { TmuxFixture, sh, SLEEP } from "./tmux-fixture.ts";

/** How long tmux may take to answer; less where it is stopped, and the end of that time is what is waited for. */
const answer = vi.hoisted(() => ({ ms: 10_000 }));
vi.mock(import("../../../src/limits/index.ts"), async (original) => {
  const limits = await original();
  return Object.defineProperty({ ...limits }, "TMUX_ANSWER_MS", { get: () => answer.ms });
});

let fixture: TmuxFixture;
beforeEach(() => {
  fixture = new TmuxFixture();
});
afterEach(() => fixture.clear());

const isWait = (line: string): boolean => line.includes("is exiting");
const RETRY = { code: "unavailable", retryable: true };

test("listing panes starts no server, and finds none", async () => {
  const server = fixture.server();
  expect(await server.panes()).toEqual([]);
  await server.removePane("%1");
  await server.rename("id", "name");
  await expect(server.capture("%1", { lines: 1 })).rejects.toMatchObject({ code: "not-found" });
  expect(() => fixture.serverPid()).toThrow(/No such file|no server/);
});

test("the control client is killed: whoever waits is told to try again, and trying again works", async () => {
  const server = fixture.server();
  const { pane } = await server.start(fixture.request("w", SLEEP));
  for (const pid of fixture.clientPids()) process.kill(pid, "SIGKILL");
  const outcome = await server.panes().catch((error: unknown) => error);
  expect(Array.isArray(outcome) ? RETRY : outcome).toMatchObject(RETRY);
  const panes = await until("the panes again", () => server.panes().catch(() => null));
  expect(panes.find(({ id }) => id === pane)).toMatchObject({ dead: false, workerId: "id-w" });
});

test("a search for the server that began before there was one does not hide the one that was started", async () => {
  const file = join(fixture.dir, "tmux");
  // A busy machine: the server takes a moment to start, and a client that found none a longer one to say so.
  const slow = `case "$*" in *start-server*) sleep 0.2 ;; esac\ntmux "$@" || { sleep 0.5; exit 1; }\n`;
  writeFileSync(file, `#!/bin/sh\n${slow}`, { mode: 0o755 });
  const server = fixture.server({ tmux: { ...findTmux(process.env.PATH), file } });
  const looking = new AbortController();
  const looks = (async () => {
    while (!looking.signal.aborted) await server.panes();
  })();
  await expect(server.ensure().finally(() => looking.abort())).resolves.toBeUndefined();
  await looks;
});

test("nobody connects while tmux starts the server: tmux 3.3a crashes on a control client that is just connecting", async () => {
  const file = join(fixture.dir, "tmux");
  const log = join(fixture.dir, "calls");
  const slow = `case "$*" in
    *start-server*) echo starts >> ${log}; sleep 0.3; tmux "$@"; code=$?; echo started >> ${log}; exit $code ;;
    *attach-session*) echo connects >> ${log}; sleep 0.1 ;;
  esac
  exec tmux "$@"`;
  writeFileSync(file, `#!/bin/sh\n${slow}`, { mode: 0o755 });
  const server = fixture.server({ tmux: { ...findTmux(process.env.PATH), file } });
  const looking = new AbortController();
  const looks = (async () => {
    while (!looking.signal.aborted) await server.panes();
  })();
  await server.ensure().finally(() => looking.abort());
  await looks;
  const calls = readFileSync(log, "utf8").split("\n");
  expect(calls[calls.indexOf("starts") + 1]).toBe("started");
});

/** Takes another title at each USR1. */
const TITLED = sh(
  String.raw`n=1; trap 'n=$((n + 1)); printf "\033]2;title $n\007"' USR1; printf '\033]2;title 1\007'; while :; do sleep 0.05; done`,
);

test("a title is told once when it changes, and of nobody else's pane", async () => {
  const server = fixture.server();
  const told: string[] = [];
  server.onTitle(({ workerId }, title) => told.push(`${workerId} is ${title}`));
  const { pid } = await server.start(fixture.request("w", TITLED));
  fixture.tmux("new-window", "-t", "=api", String.raw`printf '\033]2;nobody\007'; exec sleep 1000`);
  await until("its title", () => (told.length > 0 ? true : null));
  process.kill(pid, "SIGUSR1");
  await until("another title", () => (told.length > 1 ? true : null));
  expect(told).toEqual(["id-w is title 1", "id-w is title 2"]);
});

test("titles are told again after the control client was killed, though nobody asks", async () => {
  const server = fixture.server();
  const titles: string[] = [];
  server.onTitle((_pane, title) => titles.push(title));
  const { pid } = await server.start(fixture.request("w", TITLED));
  await until("its title", () => (titles.includes("title 1") ? true : null));
  const [client = 0] = fixture.clientPids();
  process.kill(client, "SIGKILL");
  await until("another client", () => fixture.clientPids().find((each) => each !== client) ?? null);
  process.kill(pid, "SIGUSR1");
  await until("another title", () => (titles.at(-1) === "title 1" ? null : true));
  expect(titles.at(-1)).toBe("title 2");
});

test("the server is killed: nobody hangs, and the next start has a new server", async () => {
  const server = fixture.server();
  const titles: string[] = [];
  server.onTitle((_pane, title) => titles.push(title));
  const titled = sh(String.raw`printf '\033]2;hello\007'; exec sleep 1000`);
  await Promise.all(["a", "b"].map((name) => server.start(fixture.request(name, titled))));
  await until("both seen", () => (titles.length === 2 ? true : null)); // a change is told, so both were seen alive
  const pid = fixture.serverPid();
  const asked = Array.from({ length: 20 }, (_, index) => server.start(fixture.request(`w${index}`, SLEEP)));
  process.kill(pid, "SIGKILL");
  const outcomes = await Promise.allSettled(asked);
  const refused = outcomes.filter(({ status }) => status === "rejected");
  expect(refused).toMatchObject(refused.map(() => ({ reason: RETRY })));
  const again = await until("a new server", () =>
    server.start(fixture.request("a", SLEEP, { run: "r2" })).catch(() => null),
  );
  expect((await server.panes()).filter(({ workerId }) => workerId === "id-a")).toMatchObject([
    { id: again.pane, pid: again.pid, run: "r2" },
  ]);
  expect(fixture.serverPid()).not.toBe(pid);
});

test("a server that is just ending: looking and starting wait until it has gone, and then there is another", async () => {
  await fixture.server().start(fixture.request("w", SLEEP));
  const pid = fixture.serverPid();
  // A client that does not hear of the end: the server waits for it, and drops whoever comes meanwhile.
  const deaf = spawn("tmux", ["-S", fixture.socket, "-C", "attach", "-t", "=api"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  await once(deaf.stdout, "data");
  deaf.kill("SIGSTOP");
  try {
    fixture.tmux("kill-server");
    expect(() => fixture.serverPid()).toThrow(/server exited/);
    const asked = Promise.all([
      fixture.server().panes(),
      fixture.server().start(fixture.request("w", SLEEP, { run: "r2" })),
    ]);
    await Promise.race([asked, until("both to wait", () => (fixture.log.filter(isWait).length >= 2 ? true : null))]);
    deaf.kill("SIGKILL");
    const [panes, { pane }] = await asked;
    expect(panes.filter(({ workerId, run }) => workerId !== null && run !== "r2")).toEqual([]);
    expect(fixture.tmux("list-panes", "-a", "-F", "#{pane_id}").split("\n")).toContain(pane);
    expect(fixture.serverPid()).not.toBe(pid);
  } finally {
    deaf.kill("SIGKILL");
  }
});

test("a server that does not answer is no hang, and no second server", async () => {
  const server = fixture.server();
  await server.start(fixture.request("w", SLEEP));
  const pid = fixture.serverPid();
  process.kill(pid, "SIGSTOP");
  answer.ms = 1_000;
  try {
    const refused = { status: "rejected", reason: RETRY };
    const asked = await Promise.allSettled([server.panes(), server.start(fixture.request("x", SLEEP))]);
    expect(asked).toMatchObject([refused, refused]);
  } finally {
    answer.ms = 10_000;
    process.kill(pid, "SIGCONT");
  }
  const panes = await until("its answer", () => server.panes().catch(() => null));
  expect(panes.filter(({ workerId }) => workerId === "id-w")).toHaveLength(1);
  expect(fixture.serverPid()).toBe(pid);
});

test("somebody closes the control session: the workers are still seen, alive", async () => {
  const server = fixture.server();
  const { pane } = await server.start(fixture.request("w", SLEEP));
  fixture.tmux("kill-session", "-t", "=_perdure");
  for (const pid of fixture.clientPids()) process.kill(pid, "SIGKILL");
  await until("the control session", () =>
    fixture.tmux("list-sessions", "-F", "#{session_name}").includes("_perdure") ? true : null,
  );
  const panes = await until("the panes", () => server.panes().catch(() => null));
  expect(panes.find(({ id }) => id === pane)).toMatchObject({ dead: false, workerId: "id-w" });
});

test("somebody closes a project's session: its workers are gone, and the next start makes it anew", async () => {
  const server = fixture.server();
  const first = await server.start(fixture.request("w", sh(String.raw`printf '\033]2;t\007'; exec sleep 1000`)));
  await until("it is seen", async () => ((await server.panes()).some(({ title }) => title === "t") ? true : null));
  fixture.tmux("kill-session", "-t", "=api");
  const again = await server.start(fixture.request("w", SLEEP, { run: "r2" }));
  expect(again.pane).not.toBe(first.pane);
  expect((await server.panes()).filter(({ workerId }) => workerId === "id-w")).toMatchObject([
    { run: "r2", session: "api" },
  ]);
});

test("the server outlives whoever started it, killed with its whole group; the next one finds every worker", async () => {
  const script = join(fixture.dir, "daemon.ts");
  const source = join(import.meta.dirname, "tmux-fixture.ts");
  const text = `import { TmuxFixture, SLEEP } from ${JSON.stringify(source)};
const fixture = new TmuxFixture(${JSON.stringify(fixture.dir)});
await fixture.server().start(fixture.request("w", SLEEP));
console.log("started");`;
  writeFileSync(script, text);
  const daemon = spawn(process.execPath, [script], { detached: true, stdio: ["ignore", "pipe", "inherit"] });
  await once(daemon.stdout, "data");
  process.kill(-(daemon.pid ?? 0), "SIGKILL");
  await once(daemon, "close");
  const panes = await fixture.server().panes();
  expect(panes.filter(({ workerId }) => workerId !== null)).toMatchObject([{ workerId: "id-w", dead: false }]);
});
