import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { attachPlan } from "../../../src/runtime/tmux/attach.ts";
import type { TmuxServer } from "../../../src/runtime/tmux/server.ts";
import { shellQuote, shellWords } from "../../../src/util/shell-quote.ts";
import { until } from "../../terminal/tmux.ts";
import { SLEEP, TmuxFixture } from "./tmux-fixture.ts";

let fixture: TmuxFixture;
let server: TmuxServer;
let terminals: Terminal[];
beforeEach(async () => {
  terminals = [];
  fixture = new TmuxFixture();
  server = fixture.server();
  for (const worker of ["one", "two", "three"]) await server.start(fixture.request(worker, SLEEP));
});
afterEach(async () => {
  for (const terminal of terminals) terminal.close();
  await fixture.clear();
});

/** A terminal of some size, with a shell that has run a command of tmux's. */
class Terminal {
  readonly #socket: string;

  constructor(command: readonly string[], columns: number, rows: number) {
    this.#socket = join(fixture.dir, `o${terminals.length}`);
    // `perdure attach` becomes the program, and has given its own pid.
    const words = shellWords(command).replaceAll(`@${process.pid}`, () => '@"$$"');
    const inner = `sh -c ${shellQuote(`exec env -u TMUX -u TMUX_PANE ${words}`)}; echo left; exec sleep 1000`;
    this.do("new-session", "-d", "-x", String(columns), "-y", String(rows), inner);
    terminals.push(this);
  }

  do(...args: string[]): string {
    const env = { ...fixture.env, TERM: "xterm-256color" };
    return execFileSync("tmux", ["-u", "-S", this.#socket, "-f", "/dev/null", ...args], { env, encoding: "utf8" });
  }

  async shows(wanted: RegExp): Promise<string> {
    const look = (): string => this.do("capture-pane", "-p");
    return until(
      String(wanted),
      () => (wanted.test(look()) ? look() : null),
      async () => Promise.resolve(look()),
    );
  }

  close(): void {
    this.do("kill-server");
  }
}

/** A terminal in which `perdure attach` went to the worker. */
async function attach(worker: string, columns = 100, rows = 30): Promise<Terminal> {
  const pane = (await server.panes()).find(({ workerId }) => workerId === `id-${worker}`);
  if (pane === undefined) throw new Error(`no pane of ${worker}`);
  const { session, window, id } = pane;
  const ours = { insideTmux: undefined, file: "tmux", socket: fixture.socket, prefix: "C-b", outerPrefix: null };
  const at = { session, window, pane: id, folder: fixture.dir, project: "api", worker };
  const plan = attachPlan({ ...ours, ...at, where: "here" });
  const terminal = new Terminal(plan.argv, columns, rows);
  await terminal.shows(new RegExp(String.raw`\d:${worker}\*`));
  return terminal;
}

/** Returns the window that each terminal shows, and the sessions. */
const shown = (): string[] => rows("list-clients", "#{client_control_mode} #{window_name} #{window_width}");
const sessions = (): string[] => rows("list-sessions", "#{session_name}");
const rows = (command: string, format: string): string[] =>
  fixture
    .tmux(command, "-F", format)
    .split("\n")
    .filter((row) => !row.startsWith("1 "))
    .map((row) => row.replace(/^0 /, ""))
    .toSorted();
const noView = async (): Promise<true> =>
  until("no view", () => (sessions().some((name) => name.includes("@")) ? null : true));

test("each terminal stays at its own worker, at its own size, and leaves nothing behind", async () => {
  await attach("one", 120, 40);
  const small = await attach("two", 70, 20);
  expect(shown()).toEqual(["one 120", "two 70"]);
  small.do("send-keys", "C-b", "3");
  await small.shows(/3:three\*/);
  expect(shown()).toEqual(["one 120", "three 70"]);
  // Nothing is there twice, and a window that is moved in one of them is moved for all.
  fixture.tmux("swap-window", "-d", "-s", "=api:1", "-t", "=api:2");
  const listed = (await server.panes()).filter(({ workerId }) => workerId !== null);
  expect(listed.map(({ session, workerId, windowIndex }) => `${session} ${workerId} ${windowIndex}`)).toEqual([
    "api id-two 1",
    "api id-one 2",
    "api id-three 3",
  ]);
  expect((await server.clients()).clients).toHaveLength(2);
  await server.mark(new Map([["id-one", { state: "blocked", needsSomebody: true, says: "" }]]));
  expect(fixture.tmux("display-message", "-p", "-t", "_perdure:", "#{E:@perdure_needed}")).toBe("◆ one");
  small.do("send-keys", "C-b", "w");
  const list = await small.shows(/three/);
  expect(list.match(/: one/g)).toHaveLength(1);
  small.do("send-keys", "q");
  small.do("send-keys", "C-b", "d");
  await small.shows(/left/);
  await until("the view is gone", () => (sessions().length === 3 ? true : null));
});

test("who comes in another way gets a view, too: by hand, and from the list of workers to another project", async () => {
  await server.start(fixture.request("other", SLEEP, { project: "web" }));
  const one = await attach("one");
  const hand = new Terminal(["tmux", "-u", "-S", fixture.socket, "attach", "-t", "=api:3"], 100, 30);
  await hand.shows(/3:three\*/);
  hand.do("send-keys", "C-b", "2");
  await until("two and one", () => (shown().join() === "one 100,two 100" ? true : null));
  const [client = ""] = rows("list-clients", "#{client_control_mode} #{window_name} #{client_name}");
  fixture.tmux("switch-client", "-c", client.replace("one ", ""), "-t", "=web:");
  await until("a view of web", () => (sessions().some((name) => name.startsWith("web@")) ? true : null));
  await until("one view each", () => (sessions().filter((name) => name.includes("@")).length === 2 ? true : null));
  // Our own session is nobody's place.
  for (let times = 0; times < 4; times += 1) one.do("send-keys", "C-b", ")");
  await until("projects only", () =>
    sessions().filter((name) => /^(api|web)@/.test(name)).length === 2 ? true : null,
  );
  expect(shown().join()).not.toContain("sh");
});

test("kill-session closes a terminal's view, and the project's session is made again while somebody looks", async () => {
  const [one, two] = [await attach("one"), await attach("two")];
  const panes = (await server.panes()).map(({ id }) => id);
  one.do("send-keys", "C-b", ":");
  await one.shows(/^:/m);
  one.do("send-keys", "-l", "kill-session");
  await one.shows(/:kill-session/);
  one.do("send-keys", "Enter");
  await one.shows(/\[exited\]\s+left/);
  fixture.tmux("kill-session", "-t", "=api");
  await until("the session", () => (sessions().includes("api") ? true : null));
  expect((await server.panes()).map(({ id }) => id).toSorted()).toEqual(panes.toSorted());
  expect(fixture.tmux("show-options", "-v", "-t", "=api:", "@perdure_project")).toBe("api");
  await server.start(fixture.request("four", SLEEP));
  await two.shows(/4:four/);
});

test("terminals whose session is gone leave, and see nothing of ours", async () => {
  const looking = [await attach("one"), await attach("two")];
  for (const { id, workerId } of await server.panes()) if (workerId !== null) await server.removePane(id);
  for (const terminal of looking) await terminal.shows(/\[exited\]\s+left/);
  expect(sessions()).toEqual(["_perdure"]);
  expect(await server.isEmpty()).toBe(true);
});

test("terminals that others detach leave no view, and tmux lives on", async () => {
  for (const worker of ["one", "two", "three"]) await attach(worker);
  const pid = fixture.serverPid();
  const clients = rows("list-clients", "#{client_control_mode} #{client_name}");
  for (const name of clients) fixture.tmux("detach-client", "-t", name);
  await noView();
  expect([fixture.serverPid(), (await server.panes()).length]).toEqual([pid, 4]);
});

test("what keeps workers alive is put right after the user's own file was read by hand", async () => {
  const conf = join(fixture.dir, "conf");
  writeFileSync(conf, "set -g renumber-windows on\nset -gw remain-on-exit off\nset -g detach-on-destroy off\n");
  const values = (): string =>
    fixture.tmux("display-message", "-p", "#{renumber-windows} #{remain-on-exit} #{detach-on-destroy}");
  await server.panes();
  expect(values()).toBe("0 on on");
  fixture.tmux("source-file", conf);
  await until("the options", () => (values() === "0 on on" ? true : null));
  fixture.tmux("source-file", conf);
  await server.readChangedUserFile();
  expect(values()).toBe("0 on on");
});
