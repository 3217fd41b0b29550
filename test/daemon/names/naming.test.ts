import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { History } from "../../../src/protocol/records/run.ts";
import type { ProjectSummary } from "../../../src/protocol/records/admin.ts";
import type { WorkerDetail, WorkerSummary } from "../../../src/protocol/records/worker.ts";
import { Home } from "../../support/home.ts";

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.clear());

test("a renamed worker keeps its history, and the old name says where it went", async () => {
  await home.perdure(["run", "coder", "--", "true"]);
  expect(await home.json(["rename", "coder", "builder"])).toMatchObject({ address: "api/builder", from: "api/coder" });

  const old = await home.perdure(["show", "coder"]);
  const claimed = await home.perdure(["run", "coder", "--", "true"]);
  const { runs } = await home.json<History>(["history", "builder"]);

  expect(old).toMatchObject({ code: 3, stderr: expect.stringContaining("api/coder is now api/builder") as string });
  expect(claimed).toMatchObject({ code: 3, stderr: expect.stringContaining("api/coder is now api/builder") as string });
  expect(runs).toHaveLength(1);
  expect(await home.json<WorkerDetail>(["show", "builder"])).toMatchObject({ formerNames: ["coder"] });
});

test("a worker can be renamed back, and then the name in between points to it", async () => {
  await home.perdure(["run", "coder", "--", "true"]);
  await home.perdure(["rename", "coder", "builder"]);
  expect(await home.perdure(["rename", "builder", "coder"])).toMatchObject({ code: 0 });

  expect(await home.perdure(["run", "coder", "--", "true"])).toMatchObject({ code: 0 });
  const { stderr } = await home.perdure(["show", "builder"]);
  expect(stderr).toContain("api/builder is now api/coder");
});

test("case can be changed by rename, without a tombstone", async () => {
  await home.perdure(["run", "coder", "--", "true"]);
  expect(await home.perdure(["rename", "coder", "Coder"])).toMatchObject({ code: 0 });
  expect(await home.json<WorkerDetail>(["show", "CODER"])).toMatchObject({ name: "Coder", formerNames: [] });
});

test("renaming a running worker leaves its run alone", async () => {
  const { worker } = await home.start("coder", ["sleep", "600"]);
  await home.perdure(["rename", "coder", "builder"]);
  expect(await home.until("builder", () => true)).toMatchObject({ run: worker.run, generation: 1, state: "running" });
});

test("an old name is freed by retire, and then belongs to nobody", async () => {
  await home.perdure(["run", "coder", "--", "true"]);
  await home.perdure(["rename", "coder", "builder"]);
  expect(await home.perdure(["retire", "coder"])).toMatchObject({ code: 0 });

  expect(await home.perdure(["run", "coder", "--", "true"])).toMatchObject({ code: 0 });
  expect((await home.json<History>(["history", "coder"])).runs).toHaveLength(1);
  expect((await home.json<History>(["history", "builder"])).runs).toHaveLength(1);
});

test("a running worker cannot be retired; a newcomer of a retired name starts with nothing", async () => {
  const { worker } = await home.start("coder", ["sleep", "600"]);
  expect(await home.perdure(["retire", "coder"])).toMatchObject({ code: 4 });
  await home.perdure(["takeover", "coder"]);
  expect(await home.perdure(["retire", "coder"])).toMatchObject({ code: 0 });
  expect((await home.json<{ workers: WorkerSummary[] }>(["ls"])).workers).toEqual([]);

  expect(await home.perdure(["run", "coder"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("never been started") as string,
  });
  expect(await home.perdure(["run", "coder", "--", "true"])).toMatchObject({ code: 0 });
  const { runs } = await home.json<History>(["history", "coder"]);
  expect(runs.map(({ generation }) => generation)).toEqual([1]);
  expect(runs[0]?.id).not.toBe(worker.run?.id);
});

test("project move takes the names along to the folder's new place", async () => {
  await home.perdure(["run", "coder", "--", "true"]);
  const moved = join(home.dir, "elsewhere");
  renameSync(home.project, moved);
  const there = { cwd: moved };
  expect((await home.json<{ workers: WorkerSummary[] }>(["ls"], there)).workers).toEqual([]);

  expect(await home.json(["project", "move", "api"], there)).toMatchObject({
    slug: "api",
    root: moved,
    workers: 1,
    registered: true,
  });

  const { workers } = await home.json<{ workers: WorkerSummary[] }>(["ls"], there);
  expect(workers.map(({ address }) => address)).toEqual(["api/coder"]);
  expect(await home.json(["whoami", "--as", "coder"], there)).toMatchObject({ address: "api/coder" });
  // Its folder was below the old root and has moved with it.
  expect((await home.perdure(["run", "coder"], there)).code).toBe(0);
  mkdirSync(home.project);
});

test("project move finds a project by its old path too, and refuses a folder with workers of its own", async () => {
  await home.perdure(["run", "coder", "--", "true"]);
  const other = join(home.dir, "other");
  mkdirSync(other);
  await home.perdure(["run", "helper", "--", "true"], { cwd: other });
  const moved = join(home.dir, "moved");
  renameSync(home.project, moved);

  const refused = await home.perdure(["project", "move", home.project], { cwd: other });
  const done = await home.json<ProjectSummary>(["project", "move", home.project], { cwd: moved });

  expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining("is already project other") as string });
  expect(done).toMatchObject({ slug: "api", root: moved });
  mkdirSync(home.project);
});
