import assert from "node:assert/strict";
import { mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DrillResult } from "../../../src/protocol/records/conversation.ts";
import type { WorkerDetail } from "../../../src/protocol/records/worker.ts";
import { headlessCommand } from "../harness/commands.ts";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";
import type { LiveSetup } from "../setup.ts";

export const movedRepository: Case = {
  letter: "ae",
  title: "its repository is moved: refused there, carried along, same conversation",
  modes: ["headless"],
  elsewhere: "what a program finds from a folder is the same with a terminal",
  core: true,
  long: true,
  async run(setup) {
    const { home } = setup;
    home.git(["init"]);
    home.git(["commit", "--allow-empty", "-m", "first"]);
    const below = join(home.project, "services", "api");
    mkdirSync(below, { recursive: true });
    home.seedFolder(below);
    const session = await expectTold(setup, setup.worker("w"), await setup.worker("w").say("one"), ["one"]);
    const inner = setup.worker("below", { cwd: below });
    await expectTold(setup, inner, await inner.say("inside"), ["inside"]);

    const moved = join(home.dir, "new", "Moved api");
    move(setup, home.project, moved);
    const refused = await start(setup, moved, "w", "begun anew by mistake");
    assert.equal(refused.code, 5, refused.stdout + refused.stderr);
    for (const way of ["perdure project move api", "perdure run w --fresh"])
      assert.ok(refused.stderr.includes(way), way);
    assert.equal(setup.turnRequests().length, 2, "nothing was asked");

    const done = await setup.perdure(["project", "move", "api"], { cwd: moved });
    assert.equal(done.code, 0, done.stderr);
    await expectDrilled(setup, moved, 2);
    await expectTurns(setup, moved, "w", "two", ["one", "two"]);
    await expectTurns(setup, moved, "w", "three", ["one", "two", "three"]);
    await expectTurns(setup, moved, "below", "still", ["inside", "still"]);
    await expectDrilled(setup, moved, 2);
    assert.equal((await detail(setup, moved, "w")).conversation?.id, session);

    // The other way out: begun anew there, and not asked about again.
    const again = join(home.dir, "again");
    move(setup, moved, again);
    assert.equal((await start(setup, again, "w", "anew")).code, 5);
    const fresh = await start(setup, again, "w", "anew", ["--fresh"]);
    assert.equal(fresh.code, 0, fresh.stderr);
    assert.deepEqual([...(setup.turnRequests().at(-1)?.turns ?? [])], ["anew"]);
    await expectTurns(setup, again, "w", "more", ["anew", "more"]);
    const conflict = await setup.perdure(["project", "move", "api"], { cwd: again });
    assert.equal(conflict.code, 4, conflict.stderr);
    assert.ok(conflict.stderr.includes("perdure rename w"), conflict.stderr);
    assert.equal((await setup.perdure(["rename", "w", "other"], { cwd: again })).code, 0);
    assert.equal((await setup.perdure(["project", "move", "api"], { cwd: again })).code, 0);
    await expectTurns(setup, again, "w", "four", ["one", "two", "three", "four"]);
  },
};

function move({ home }: LiveSetup, from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  renameSync(from, to);
  home.seedFolder(to);
  home.seedFolder(join(to, "services", "api"));
}

function start(
  setup: LiveSetup,
  cwd: string,
  name: string,
  prompt: string,
  options: readonly string[] = [],
): ReturnType<LiveSetup["perdure"]> {
  const command = headlessCommand(setup.vendor, [], prompt);
  return setup.perdure(["run", name, ...options, "--", ...command], { cwd });
}

/** Says something, and checks that the model was told all of these turns, in a conversation that was proved. */
async function expectTurns(
  setup: LiveSetup,
  cwd: string,
  name: string,
  prompt: string,
  turns: string[],
): Promise<void> {
  const { code, stdout, stderr } = await start(setup, cwd, name, prompt);
  assert.equal(code, 0, stdout + stderr);
  assert.deepEqual([...(setup.turnRequests().at(-1)?.turns ?? [])], turns);
  assert.notEqual((await detail(setup, cwd, name)).session?.proved, false);
}

async function detail({ home }: LiveSetup, cwd: string, name: string): Promise<WorkerDetail> {
  return home.json<WorkerDetail>(["show", name], { cwd });
}

async function expectDrilled({ home }: LiveSetup, cwd: string, count: number): Promise<void> {
  const { workers } = await home.json<{ workers: DrillResult[] }>(["drill"], { cwd });
  assert.equal(workers.length, count);
  for (const { address, ok, reason } of workers) assert.ok(ok, `${address}: ${reason}`);
}
