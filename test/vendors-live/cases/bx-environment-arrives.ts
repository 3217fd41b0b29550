import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { UpItem, UpResult } from "../../../src/protocol/records/fleet.ts";
import { processTable } from "../../../src/runtime/process/index.ts";
import { killMarked } from "../harness/marked-processes.ts";
import type { Case } from "../case.ts";
import { expectTold } from "../expect.ts";
import { killEverything, PaneWorker } from "../pane-worker.ts";
import type { LiveSetup } from "../setup.ts";

const NAME = "coder";

/** A program whose provider takes its key from a variable of the user's own name, which only the user's terminal has. */
export const environmentArrives: Case = {
  letter: "bx",
  title:
    "a key of a name of its user's own arrives, and stays over restarts, a reboot and a killed daemon; and is nowhere else",
  modes: ["tui"],
  elsewhere: "a fleet lives in terminals",
  core: true,
  against: ({ namedKey }) => (namedKey === undefined ? "its settings name no variable of its user's own" : null),
  async run(setup) {
    const { home, traits, vendor } = setup;
    const key = traits.namedKey ?? "";
    const value = `made-up-${randomUUID()}`;
    // Scripts, and whatever starts a daemon, do not have it.
    delete home.env[key];
    const boot = join(home.dir, "boot-id");
    writeFileSync(boot, "11111111-1111-1111-1111-111111111111");
    home.env.PERDURE_BOOT_ID_FILE = boot;
    await home.perdure(["daemon", "stop"]);
    const args = [...vendor.interactive.before, ...traits.interactive];
    const fleet = `[workers.${NAME}]\nvendor = "${vendor.name}"\nargs = ${JSON.stringify(args)}\n`;
    writeFileSync(join(home.project, "perdure.toml"), fleet);

    const without = await up(setup);
    assert.match(
      without.workers[0]?.reason ?? "",
      new RegExp(`${key} \\(.* in .*\\)`),
      "what is missing is said at the start",
    );
    await home.perdure(["down"]);

    const typed = await setup.inPane(setup.inTerminal(["up", "--yes"], { env: { [key]: value } }));
    assert.equal(typed.code, 0, typed.text);
    const said = [typed.text];
    const worker = new PaneWorker(setup, NAME, {});
    const session = await expectTold(setup, worker, await worker.say("one"), ["one"]);

    const restarted = await setup.perdure(["restart", NAME]);
    assert.equal(restarted.code, 0, restarted.stderr);
    said.push(restarted.stdout, restarted.stderr);
    worker.gone();
    assert.equal(await expectTold(setup, worker, await worker.say("two"), ["one", "two"]), session);

    await killEverything(setup, [worker]);
    writeFileSync(boot, "22222222-2222-2222-2222-222222222222");
    said.push(JSON.stringify(await up(setup)));
    assert.equal(await expectTold(setup, worker, await worker.say("three"), ["one", "two", "three"]), session);

    // The daemon is killed, then the agent: the next daemon starts it again by itself.
    process.kill(home.daemonPid() ?? 0, "SIGKILL");
    const { run } = await worker.detail();
    await killMarked("PERDURE_RUN", run?.id ?? "none");
    await home.until(NAME, (each) => each.run !== null && each.run.id !== run?.id);
    worker.gone();
    const turns = ["one", "two", "three", "four"];
    assert.equal(await expectTold(setup, worker, await worker.say("four"), turns), session);

    await expectNowhere(setup, value, said);
    await home.perdure(["down"]);
  },
};

function up(setup: LiveSetup): Promise<UpResult & { workers: UpItem[] }> {
  return setup.home.json(["up", "--yes"]);
}

/** The value is in no output, no event, no page of the store, no backup and on no command line; one file of the state folder has it. */
async function expectNowhere(setup: LiveSetup, value: string, said: string[]): Promise<void> {
  const { home } = setup;
  const verbs = [
    ["backup", join(home.state, "backup.db")],
    ["ls", "--all"],
    ["show", NAME],
    ["history", NAME],
    ["events"],
  ];
  for (const words of [...verbs, ["drill"], ["logs", NAME], ["doctor"]]) {
    for (const json of [[], ["--json"]]) {
      const { stdout, stderr } = await setup.perdure([...words, ...json]);
      said.push(stdout, stderr);
    }
  }
  assert.ok(!said.join("\n").includes(value), "in what perdure prints");
  const files = globSync("**/*", { cwd: home.state })
    .filter((path) => statSync(join(home.state, path), { throwIfNoEntry: false })?.isFile() === true)
    .filter((path) => readFileSync(join(home.state, path)).includes(value));
  assert.ok(files.length === 1 && files[0]?.startsWith("environments/"), `in ${files.join(", ")}`);
  assert.equal(statSync(join(home.state, files[0] ?? "")).mode & 0o777, 0o600);
  const lines = processTable().commandLines();
  assert.deepEqual(
    lines.filter(({ argv }) => argv.some((word) => word.includes(value))),
    [],
    "on a command line",
  );
}
