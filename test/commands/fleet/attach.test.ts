import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { BIN } from "../../support/home.ts";
import { Tmux } from "../../terminal/tmux.ts";
import { fleetHome } from "../../support/fleet-home.ts";

const ONE = `[workers.coder]\nvendor = "scripted"\n`;

it("attach shows the worker's terminal, and leaving it leaves the worker", async () => {
  const fleet = fleetHome(ONE);
  await fleet.up();
  const [before] = await fleet.untilIdle();
  const tmux = await Tmux.start(fleet);
  onTestFinished(() => tmux.stop());
  const pane = await tmux.pane(["env", "-u", "TMUX", "-u", "TMUX_PANE", BIN, "attach", "coder"]);
  await pane.shows(/session .*\(coder\)/);
  await pane.line("typed from outside");
  await fleet.untilHeard("coder", "typed from outside");
  await pane.keys("C-b", "d");
  expect(await pane.ended()).toBe(0);
  expect(await fleet.untilIdle()).toMatchObject([{ run: { id: before?.run?.id } }]);
});

it("attach inside another tmux nests and says so first; --window opens a window beside", async () => {
  const fleet = fleetHome(ONE);
  await fleet.up();
  await fleet.untilIdle();
  const tmux = await Tmux.start(fleet);
  onTestFinished(() => tmux.stop());
  const nested = await tmux.pane(["sh", "-c", `${BIN} attach coder 2>told; cat told; sleep 60`]);
  await nested.shows(/session .*\(coder\)/);
  await nested.shows(/C-b C-b w: workers, C-b C-b d: leave/);
  await nested.keys("C-b", "d");
  await nested.shows(/inside your own tmux[^]*--popup, or --window/);

  const windows = async (): Promise<number> => (await tmux.do("list-windows", "-t", "test")).trim().split("\n").length;
  const opened = await windows();
  await (await tmux.pane([BIN, "attach", "coder", "--window"])).ended();
  expect(await windows()).toBe(opened + 2);
  // Once more goes to that window; a popup needs a terminal to be drawn on.
  await (await tmux.pane([BIN, "attach", "coder", "--window"])).ended();
  expect(await windows()).toBe(opened + 3);
  expect((await tmux.do("display-message", "-p", "-t", "test:", "#{window_name}")).trim()).toBe("coder");
  const popup = await tmux.pane(["sh", "-c", `${BIN} attach coder --popup; sleep 60`]);
  await popup.shows(/No terminal is attached to your tmux, so no popup can be opened\.[^]*--window/);
});

it("a prefix of one's own counts from the next attach on, and every hint has it", async () => {
  const fleet = fleetHome(ONE);
  const conf = join(fleet.dir, "mine.conf");
  mkdirSync(join(fleet.dir, ".config/perdure"), { recursive: true });
  writeFileSync(join(fleet.dir, ".config/perdure/config.toml"), `[tmux]\nconf = "~/mine.conf"\n`);
  writeFileSync(conf, "");
  await fleet.up();
  await fleet.untilIdle();
  writeFileSync(conf, "set -g prefix C-a\nbind-key C-a send-prefix\n");
  const tmux = await Tmux.start(fleet);
  onTestFinished(() => tmux.stop());
  const plain = await tmux.pane(["env", "-u", "TMUX", "-u", "TMUX_PANE", BIN, "attach", "coder"]);
  await plain.shows(/C-a w: workers, C-a d: leave/);
  await plain.keys("C-a", "d");
  expect(await plain.ended()).toBe(0);
  const board = await tmux.pane(["env", "-u", "TMUX", "-u", "TMUX_PANE", BIN]);
  await board.shows(/→ perdure attach coder +go to its terminal; Ctrl-a d leaves it again/);
  await board.keys("?");
  await board.shows(/Ctrl-a d +leaves that terminal again, and comes back here/);
  // The tmux around has another prefix, which it does not take.
  const nested = await tmux.pane([BIN]);
  await nested.shows(/go to its terminal; Ctrl-a d leaves it again/);
});

it("attach without a terminal, or of a worker without a pane, says what to do instead", async () => {
  const fleet = fleetHome(ONE);
  await fleet.perdure(["trust", "--yes"]);
  expect(await fleet.perdure(["attach", "coder"])).toMatchObject({ code: 3 });
  await fleet.up();
  expect(await fleet.perdure(["attach", "coder"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("perdure logs coder"),
  });
  const { child } = await fleet.start("plain", ["sleep", "60"]);
  expect(await fleet.perdure(["logs", "plain"])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("a terminal of its own"),
  });
  child.kill();
});

it("logs shows the last screen of an earlier run, by its number or its id", async () => {
  const plain = `[workers.plain]\ncommand = ["sh", "-c", "echo plain words; sleep 60"]\n`;
  const fleet = fleetHome(`${ONE}${plain}`, { PERDURE_RESTART_WAIT_MS: "50" });
  await fleet.up();
  const first = await fleet.until("coder", ({ state, session }) => state === "idle" && session?.proved === true);
  await fleet.say("coder", "the last words");
  fleet.killRun(first.run?.id ?? "");
  await fleet.until("coder", ({ state, generation }) => state === "idle" && generation === 2);
  expect((await fleet.logs("coder")).stdout).not.toContain("the last words");
  for (const run of ["1", first.run?.id ?? ""]) {
    expect((await fleet.perdure(["logs", "coder", "--run", run])).stdout).toContain("the last words");
  }
  expect((await fleet.perdure(["logs", "coder", "--run", "2"])).stdout).toContain("(coder)");
  await fleet.perdure(["stop", "plain"]);
  const { child } = await fleet.start("plain", ["sleep", "60"]);
  expect((await fleet.perdure(["logs", "plain", "--run", "1"])).stdout).toContain("plain words");
  expect(await fleet.perdure(["logs", "plain", "--run", "2"])).toMatchObject({ code: 4 }); // its pane is still run 1's
  child.kill();
  expect(await fleet.perdure(["logs", "coder", "--run", "2", "-f"])).toMatchObject({ code: 2 });
  const none = await fleet.perdure(["logs", "coder", "--run", "7"]);
  expect(none).toMatchObject({ code: 3, stderr: expect.stringMatching(/has no run "7"[^]*perdure history coder/) });
});

it("without tmux, up says how to get it and starts nothing", async () => {
  const fleet = fleetHome(`[workers.coder]\ncommand = ["/bin/sleep", "60"]\n`);
  const bin = join(fleet.dir, "bin");
  mkdirSync(bin);
  for (const tool of ["sh", "env", "sleep"]) symlinkSync(join("/bin", tool), join(bin, tool));
  const env = { ...fleet.env, PATH: bin };
  const { code, stderr, stdout } = await fleet.perdure(["up", "--yes"], { env });
  expect({ code, said: stderr + stdout }).toMatchObject({
    code: 7,
    said: expect.stringMatching(/^perdure: tmux is not installed[^\n]*\n {2}→ install it[^\n]*\n$/),
  });
});

it("attach of a worker in a terminal of its own says in which window of tmux that is", async () => {
  const fleet = fleetHome(ONE);
  const tmux = await Tmux.start(fleet);
  onTestFinished(() => tmux.stop());
  await tmux.pane([BIN, "run", "solo", "--", "sleep", "600"]);
  await fleet.until("solo", ({ run, state }) => run !== null && state !== "starting");
  expect(await fleet.perdure(["attach", "solo"])).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/solo runs in a terminal of its own \(tmux \S+:\d+\.\d+, pid \d+\)/),
  });
});

it("a mistake in one's own conf is told when one leaves, and a file that is not there", async () => {
  const fleet = fleetHome(ONE);
  mkdirSync(join(fleet.dir, ".config/perdure"), { recursive: true });
  writeFileSync(join(fleet.dir, ".config/perdure/config.toml"), `[tmux]\nconf = "~/mine.conf"\n`);
  await fleet.up();
  await fleet.untilIdle();
  const tmux = await Tmux.start(fleet);
  onTestFinished(() => tmux.stop());
  const told = async (wanted: RegExp): Promise<string> => {
    const command = `env -u TMUX -u TMUX_PANE ${BIN} attach coder 2>told; cat told; sleep 60`;
    const pane = await tmux.pane(["sh", "-c", command]);
    await pane.shows(/C-b d: leave/);
    await pane.keys("C-b", "d");
    return (await pane.shows(wanted))[0];
  };
  expect(await told(/mine\.conf does not exist/)).not.toBe("");
  writeFileSync(join(fleet.dir, "mine.conf"), "set -g no-such-option 1\n");
  expect(await told(/no-such-option/)).not.toBe("");
});
