import { expect, onTestFinished, test } from "vitest";
import { fleetHome } from "../../support/fleet-home.ts";
import { TurnHome } from "../../support/turn-home.ts";

// A worker that needs somebody is named, with what to do next, wherever somebody looks for what is wrong.

test("a worker that crash-loops is told of by ls, show, doctor and drill, with its program's last words", async () => {
  const command = `["sh", "-c", "echo 'Unable to connect to the service'; echo 'Check your network'; exit 1"]`;
  const home = fleetHome(`[workers.looper]\ncommand = ${command}\n`, { PERDURE_RESTART_WAIT_MS: "1" });
  await home.up();
  const { attention } = await home.until("looper", ({ state }) => state === "crash-looping");
  expect(attention).toMatch(/^started 5 times in \d{1,2} s, the last one: exit 1: Unable to connect to the service$/);

  expect((await home.perdure(["show", "looper"])).stdout).toMatch(/^ {2}next +perdure logs api\/looper$/m);
  const doctor = await home.perdure(["doctor"]);
  expect(doctor.stdout).toMatch(/^note {2}looper +crash-looping: started 5 times .*\n +→ perdure logs looper$/m);
  expect(doctor.stdout).toMatch(/; 1 worker needs you, as noted above\.\n$/);
  const drill = await home.perdure(["drill"]);
  expect(drill).toMatchObject({ code: 0 });
  expect(drill.stderr).toContain("Logins were not checked.\n");
  expect(drill.stderr).toMatch(/^api\/looper needs you all the same: crash-looping: .* → perdure logs api\/looper$/m);
});

test("a worker of turns without a login says where to log in", async () => {
  const home = new TurnHome("[workers.critic]\n");
  onTestFinished(() => home.clear());
  await home.up();
  await home.perdure(["send", "critic", "[[login]]"]);
  await home.until("critic", ({ state }) => state === "on-hold");
  const { stdout } = await home.perdure([]);
  const line = stdout.split("\n").find((each) => /^ {2}critic {2}perdure/.test(each)) ?? "";
  expect(line).toMatch(/^ {2}critic {2}perdure attach critic {2}on-hold: Not logged in\./);
  expect(line).toContain("log in there and leave the program; then: perdure up critic)");
  expect(line.match(/perdure attach critic/g)).toHaveLength(1);
});
