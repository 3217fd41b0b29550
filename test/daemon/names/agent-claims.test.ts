import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ErrorBody } from "../../../src/protocol/errors.ts";
import type { History } from "../../../src/protocol/records/run.ts";
import { BIN, Home, type Finished } from "../../support/home.ts";

// A worker's agent carries its token. With another worker's name it would get that worker's mail and its next command.

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.clear());

/** Runs `perdure run NAME -- true` inside the worker `agent`, and returns the outcome of that inner command. */
function insideAgent(name: string): Promise<Finished> {
  return home.perdure(["run", "agent", "--", "sh", "-c", `'${BIN}' run ${name} --json -- true`]);
}

async function refused(name: string): Promise<ErrorBody> {
  const { stdout, code } = await insideAgent(name);
  expect(code).toBe(5);
  return (JSON.parse(stdout) as { error: ErrorBody }).error;
}

test("B1: a stopped worker is not another worker's to start, and nothing of it changes", async () => {
  await home.perdure(["run", "victim", "--", "echo", "mine"]);
  await home.perdure(["send", "victim", "for the victim alone"]);
  expect(await refused("victim")).toMatchObject({
    code: "refused",
    message: "An agent may not claim api/victim: it is not a worker that it started.",
    hint: "ask the operator to run: perdure run victim",
  });
  expect((await home.json<History>(["history", "victim"])).runs).toHaveLength(1);
  expect(await home.json(["show", "victim"])).toMatchObject({ command: ["echo", "mine"], unread: 1, generation: 1 });
});

test("B1: a name that the fleet file declares is the fleet's, though it never ran", async () => {
  writeFileSync(join(home.project, "perdure.toml"), '[workers.pair]\ncommand = ["true"]\ncount = 2\n');
  expect(await refused("pair-2")).toMatchObject({
    message: "An agent may not claim api/pair-2: it is declared in perdure.toml.",
    hint: "ask the operator to run: perdure up pair-2",
  });
  expect((await insideAgent("pair")).code).toBe(0);
});

test("B1: a new name is the agent's, again and again, until somebody else starts it", async () => {
  expect((await insideAgent("child")).code).toBe(0);
  expect((await insideAgent("child")).code).toBe(0);
  expect(await home.json(["show", "child"])).toMatchObject({ generation: 2 });
  await home.perdure(["run", "child", "--", "true"]);
  expect(await refused("child")).toMatchObject({ code: "refused" });
});

test("B1: an agent claims no name of another project, new or its own child's, and makes no project", async () => {
  const web = join(home.dir, "web");
  mkdirSync(web);
  await home.perdure(["run", "theirs", "--", "true"], { cwd: web });
  expect(await refused("web/spy")).toMatchObject({
    code: "refused",
    message: "An agent of project api may not claim a name of another: web/spy.",
    hint: "claim a name of its own project: perdure run api/spy; or ask the operator to run: perdure run web/spy",
  });
  // Without the variable that says which project a bare name belongs to, the folder says it.
  const fresh = join(home.dir, "fresh");
  mkdirSync(fresh);
  for (const folder of [web, fresh]) {
    const script = `cd '${folder}' && unset PERDURE_PROJECT && '${BIN}' run spy --json -- true`;
    expect(await home.perdure(["run", "agent", "--", "sh", "-c", script])).toMatchObject({ code: 5 });
  }
  const { projects } = await home.json<{ projects: { slug: string; workers: number }[] }>(["project", "ls"]);
  expect(projects).toMatchObject([
    { slug: "api", workers: 1 },
    { slug: "web", workers: 1 },
  ]);
});

test("B1: the operator starts them all", async () => {
  await insideAgent("child");
  expect((await home.perdure(["run", "child"])).code).toBe(0);
});
