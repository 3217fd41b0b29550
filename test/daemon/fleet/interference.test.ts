import { execFileSync, spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { processTable } from "../../../src/runtime/process/index.ts";
import { eventually } from "../../support/check.ts";
import { byName, fleetHome, type FleetHome } from "../../support/fleet-home.ts";

const TWO = `[defaults]\nvendor = "scripted"\n[workers.a]\n[workers.b]\n`;

function tmux(fleet: FleetHome, ...args: string[]): string {
  return execFileSync("tmux", ["-S", join(fleet.state, "tmux"), ...args], { encoding: "utf8" }).trim();
}

it("a window that a person opens in the fleet's tmux is nobody's run, and outlives the workers", async () => {
  const fleet = fleetHome(TWO);
  await fleet.up();
  await fleet.untilIdle();
  const inSession = Number(tmux(fleet, "new-window", "-d", "-P", "-F", "#{pane_pid}", "-t", "api:", "sleep", "600"));
  const apart = Number(tmux(fleet, "new-session", "-d", "-P", "-F", "#{pane_pid}", "-s", "mine", "sleep", "600"));
  const table = processTable();
  await eventually("both", () => [inSession, apart].every((pid) => table.inspect(pid)?.command === "sleep"));
  for (const pid of [inSession, apart]) expect(table.variable(pid, "PERDURE_RUN")).toBe(null);

  await fleet.down();
  expect(table.inspect(inSession)?.command).toBe("sleep");
  expect(table.inspect(apart)?.command).toBe("sleep");
  for (const pid of [inSession, apart]) process.kill(pid, "SIGKILL");
});

it("after the tmux server was killed every worker comes back, whatever code a lost terminal led to", async () => {
  const fleet = fleetHome(TWO, { PERDURE_RESTART_WAIT_MS: "50" });
  await fleet.up();
  const before = byName(await fleet.untilIdle());
  await fleet.say("a", "before");
  const server = Number(tmux(fleet, "display-message", "-p", "#{pid}"));
  process.kill(server, "SIGKILL");
  for (const name of ["a", "b"]) {
    const back = await fleet.until(name, ({ state, generation }) => state === "idle" && generation === 2);
    expect(back.session?.id).toBe(before[name]?.session?.id);
  }
  expect(await fleet.transcript("a")).toContain("before");
});

it("after kill-server, which hangs up on agents that then end well, every worker comes back", async () => {
  const names = ["a", "b", "c", "d", "e"];
  const fleet = fleetHome(names.map((name) => `[workers.${name}]\nvendor = "scripted"\n`).join(""), {
    PERDURE_RESTART_WAIT_MS: "50",
  });
  await fleet.up();
  await fleet.untilIdle();
  for (const generation of [2, 3]) {
    tmux(fleet, "kill-server");
    for (const name of names) {
      const back = await fleet.until(name, (worker) => worker.state === "idle" && worker.generation >= generation);
      expect(back.generation).toBe(generation);
    }
  }
});

it("a worker that dies while tmux is stopped is restarted once tmux answers again", async () => {
  const fleet = fleetHome(TWO, { PERDURE_RESTART_WAIT_MS: "50" });
  await fleet.up();
  const before = byName(await fleet.untilIdle());
  const server = tmux(fleet, "display-message", "-p", "#{pid}");
  spawnSync("kill", ["-STOP", server]);
  fleet.killRun(before.a?.run?.id ?? "");
  await fleet.until("a", ({ run }) => run === null);
  spawnSync("kill", ["-CONT", server]);
  const back = await fleet.until("a", ({ state, generation }) => state === "idle" && generation >= 2);
  expect(back.session?.id).toBe(before.a?.session?.id);
});

it("restart leaves a worker running whose conversation could not be resumed", async () => {
  const fleet = fleetHome(TWO);
  await fleet.up();
  await fleet.untilIdle();
  await fleet.say("a", "before");
  const { run } = await fleet.until("a", ({ state }) => state === "idle");
  await fleet.type("a", "/garble");
  await eventually("the damage", async () => (await fleet.perdure(["drill", "a"])).code === 5);
  expect(await fleet.perdure(["restart", "a"])).toMatchObject({
    code: 5,
    stderr: expect.stringMatching(/api\/a was left running, because it could not be resumed: .* is damaged/) as string,
  });
  expect((await fleet.workers()).find(({ name }) => name === "a")?.run?.id).toBe(run?.id);
  expect(await fleet.perdure(["restart", "a", "--fresh"])).toMatchObject({ code: 0 });
});

it("two saved sessions stay apart, however often the fleet switches between them", async () => {
  const fleet = fleetHome(TWO);
  const where = async (): Promise<(string | undefined)[]> =>
    (await fleet.untilIdle()).map(({ session }) => session?.id);
  await fleet.up("--session", "friday");
  const friday = await where();
  for (const name of ["a", "b"]) await fleet.say(name, "friday");
  await fleet.down();
  await fleet.up("--session", "other");
  const other = await where();
  for (const name of ["a", "b"]) await fleet.say(name, "other");
  await fleet.down();
  for (const [name, there] of [
    ["friday", friday],
    ["other", other],
    ["friday", friday],
  ] as const) {
    await fleet.up("--resume", name);
    expect({ name, there: await where() }).toEqual({ name, there });
    await fleet.down();
  }
  for (const words of [
    ["--resume", "friday", "--fresh"],
    ["--session", "x", "--resume", "friday"],
    ["a", "--resume", "friday"],
  ]) {
    expect(await fleet.perdure(["up", ...words])).toMatchObject({ code: 2 });
  }
  expect(await fleet.perdure(["up", "--resume", "friday", "--allow-fresh", "nobody"])).toMatchObject({ code: 3 });
});

it("a restart whose daemon was killed is finished by the next daemon", async () => {
  const script = "trap 'echo heard TERM' TERM; while :; do sleep 1; done";
  const fleet = fleetHome(`[workers.deaf]\ncommand = ["sh", "-c", ${JSON.stringify(script)}]\n`);
  await fleet.up();
  const before = await fleet.until("deaf", ({ run }) => run !== null);
  fleet.spawn(["restart", "deaf"]);
  await eventually("TERM", async () => (await fleet.logs("deaf")).stdout.includes("heard TERM"));
  process.kill(fleet.daemonPid() ?? 0, "SIGKILL");
  const after = await fleet.until("deaf", ({ run, generation }) => run !== null && generation === 2);
  expect(after.run?.id).not.toBe(before.run?.id);
});

it("a worker whose worktree cannot be made is refused; the others come up", async () => {
  const fleet = fleetHome(`${TWO}[workers.c]\nworktree = true\n`);
  const { workers, ...result } = await fleet.up();
  expect(result).toMatchObject({ started: 2, refused: 1 });
  expect(byName(workers).c).toMatchObject({ outcome: "refused", reason: expect.stringContaining("git") });
});

it("B4: after the fleet's tmux socket was removed the server makes it again, for a living daemon and for the next one", async () => {
  const fleet = fleetHome(TWO);
  await fleet.up();
  await fleet.untilIdle();
  const before = (await fleet.workers()).map(({ run }) => run?.id);
  const server = tmux(fleet, "display-message", "-p", "#{pid}");
  rmSync(join(fleet.state, "tmux"));
  await eventually("the server at its socket, under the living daemon", () => serverAt(fleet) === server);

  await fleet.perdure(["daemon", "stop"]);
  rmSync(join(fleet.state, "tmux"));
  await fleet.workers();
  await eventually("the server at its socket, under the next daemon", () => serverAt(fleet) === server);
  expect((await fleet.workers()).map(({ run }) => run?.id)).toEqual(before);
});

/** Returns the pid of the server that answers at the fleet's socket; null while none does, as between its making and its first use. */
function serverAt(fleet: FleetHome): string | null {
  const socket = join(fleet.state, "tmux");
  const { status, stdout } = spawnSync("tmux", ["-S", socket, "display-message", "-p", "#{pid}"], { encoding: "utf8" });
  return status === 0 ? stdout.trim() : null;
}
