import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fleetHome } from "../../support/fleet-home.ts";

const PAIR = `
project = "api"
[workers.tester]
command = ["sleep", "600"]
count = 2
[workers.one]
command = ["sleep", "600"]
`;

function containing(text: string): string {
  return expect.stringContaining(text) as string;
}

it("stop and down take the name of an entry for all of its workers, as up does", async () => {
  const fleet = fleetHome(PAIR);
  await fleet.up();
  const { workers } = await fleet.json<{ workers: unknown[] }>(["stop", "tester"]);
  expect(workers).toHaveLength(2);
  expect(workers).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ name: "tester-1", outcome: "stopped" }),
      expect.objectContaining({ name: "tester-2", outcome: "stopped" }),
    ]),
  );
  expect((await fleet.up("tester")).started).toBe(2);
  expect((await fleet.down("TESTER", "tester-1")).workers).toHaveLength(2);
  expect((await fleet.perdure(["stop", "testr"])).code).toBe(3);
});

it("a start of a worker that is up in a pane offers to go to it first, then to take over", async () => {
  const fleet = fleetHome(PAIR);
  await fleet.up("one");
  const { code, stderr } = await fleet.perdure(["run", "one"]);
  expect(code).toBe(4);
  expect(stderr).toMatch(/perdure attach api\/one;.*perdure takeover api\/one/);
});

it("rename gives the entry of a trusted file the name, too", async () => {
  const fleet = fleetHome(PAIR);
  await fleet.up("one");
  expect(await fleet.perdure(["rename", "one", "uno"])).toMatchObject({
    code: 0,
    stderr: containing("perdure.toml has it as [workers.uno] now"),
  });
  expect(readFileSync(join(fleet.project, "perdure.toml"), "utf8")).toBe(
    PAIR.replace("[workers.one]", "[workers.uno]"),
  );
  // Without a question: what was trusted has another name, and nothing else.
  expect(await fleet.json(["up", "uno"])).toMatchObject({ running: 1, refused: 0 });
});

it("rename says what the fleet file still says, and up does, too", async () => {
  const fleet = fleetHome(PAIR);
  await fleet.up();
  fleet.write(`${PAIR}\n# nobody has agreed to this\n`);
  await fleet.perdure(["stop", "one", "tester"]);
  expect(await fleet.perdure(["rename", "one", "uno"])).toMatchObject({
    code: 0,
    stderr: containing("rename [workers.one] to [workers.uno] there"),
  });
  expect((await fleet.perdure(["rename", "tester-2", "second"])).stderr).toContain("perdure rename second tester-2");
  const up = await fleet.perdure(["up", "--yes"]);
  expect(up).toMatchObject({ code: 5, stderr: containing("call it uno in perdure.toml as well") });

  fleet.write(PAIR.replace("[workers.one]", "[workers.uno]"));
  await fleet.perdure(["rename", "second", "tester-2"]);
  expect(await fleet.up()).toMatchObject({ started: 2, running: 1, refused: 0 });
  // The file says nothing of this one.
  await fleet.perdure(["run", "loose", "--", "true"]);
  expect((await fleet.perdure(["rename", "loose", "free"])).stderr).toBe("");
});
