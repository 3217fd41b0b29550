import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fleetHome } from "../../support/fleet-home.ts";

const ONE = `
[workers.coder]
vendor = "scripted"
env = { TOKEN = "hush-hush" }
`;

it("an untrusted fleet file starts nothing, and says what it would run without the values of env", async () => {
  const fleet = fleetHome(ONE);
  const refused = await fleet.perdure(["up"]);
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain("coder: TOKEN=… scripted in .");
  expect(refused.stderr).toContain("perdure trust");
  expect(refused.stderr).not.toContain("hush-hush");
  expect(await fleet.workers()).toEqual([]);

  expect(await fleet.perdure(["trust", "--yes"])).toMatchObject({ code: 0 });
  expect(await fleet.perdure(["up"])).toMatchObject({ code: 0 });
  expect(await fleet.untilIdle()).toMatchObject([{ name: "coder", mode: "tmux" }]);
});

it("a changed fleet file starts nothing either, and shows what changed", async () => {
  const fleet = fleetHome(ONE);
  await fleet.up();
  const [before] = await fleet.untilIdle();
  await fleet.down();

  fleet.write(`${ONE}\n[workers.stranger]\ncommand = ["curl", "evil.example"]\nenv = { KEY = "whisper" }\n`);
  const refused = await fleet.perdure(["up"]);
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain("stranger");
  expect(refused.stderr).toContain("evil.example");
  expect(refused.stderr).not.toContain("whisper");
  expect(await fleet.workers()).toMatchObject([{ name: "coder", state: "stopped", generation: before?.generation }]);
});

it("the daemon itself refuses a text that nobody trusted, whoever asks", async () => {
  const fleet = fleetHome(ONE);
  await fleet.up();
  // A worker may not agree to anything, and may not bring anybody up.
  const [coder] = await fleet.untilIdle();
  const token = (await fleet.environmentOf(coder?.run?.pid ?? 0)).PERDURE_TOKEN ?? "";
  const env = { ...fleet.env, PERDURE_TOKEN: token, PERDURE_SOCKET: join(fleet.state, "perdure.sock") };
  writeFileSync(join(fleet.project, "perdure.toml"), `${ONE}restart = "always"\n`);
  for (const verb of [["trust", "--yes"], ["up", "--yes"], ["down"], ["stop", "coder"]]) {
    expect({ verb, ...(await fleet.perdure(verb, { env })) }).toMatchObject({ verb, code: 5 });
  }
});
