import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BIN } from "../../support/home.ts";
import { until } from "../../terminal/tmux.ts";
import type { Case } from "../case.ts";
import { interactiveCommand } from "../harness/commands.ts";
import type { Terminal } from "../harness/terminal.ts";
import type { LiveSetup } from "../setup.ts";
import type { WorkerDetail } from "../../../src/protocol/records/worker.ts";

const NAME = "scout";

export const pinnedName: Case = {
  letter: "cc",
  title: "a name that a launcher pins is the worker's over relaunch and rename inside, and others see it in its scope",
  modes: ["tui"],
  elsewhere: "without a terminal nobody names a conversation",
  core: false,
  against: ({ peers }) => (peers ? null : "there is no extension for messages between its sessions"),
  async run(setup) {
    const { peers, naming } = setup.traits;
    assert.ok(peers && naming);
    const { command } = peers(setup.home.dir);
    const outside = await setup.terminal(interactiveCommand(setup.vendor, []));
    await outside.ready();
    const seen = async (by: Terminal): Promise<string> => {
      await by.ready();
      await by.prompt(command);
      const screen = await by.until("the list of sessions", (shown) => /Sessions in .*: .*\./s.test(shown));
      await by.press(["Escape"]);
      return /Sessions in .*?: .*?\./s.exec(screen)?.[0].replaceAll(/\s+/g, " ") ?? "";
    };

    // Pinned by the stock variable alone; perdure is told no name.
    const words = [setup.vendor.name, ...setup.vendor.interactive.before, ...setup.traits.interactive];
    const first = await launched(setup, ["--", ...words]);
    const { address, conversation } = await detail(setup);
    assert.equal(address, `api/${NAME}`);
    assert.deepEqual(await toldInside(setup, first, "one"), [address, "environment", "worker"]);
    assert.equal(await seen(outside), `Sessions in no scope: ${address} as ${NAME}.`);

    // Relaunched: the same address in the same conversation, and nobody typed a name.
    await killed(setup, first);
    const second = await launched(setup, []);
    assert.equal((await detail(setup)).conversation?.id, conversation?.id);
    assert.deepEqual(await toldInside(setup, second, "two"), [address, "environment", "worker"]);
    assert.equal(await seen(outside), `Sessions in no scope: ${address} as ${NAME}.`);

    // What its user calls the conversation is not the worker's name.
    await second.prompt(`${naming} words of mine`);
    await until("the new name", async () =>
      (await detail(setup)).conversation?.name === "words of mine" ? true : null,
    );
    assert.deepEqual(await toldInside(setup, second, "three"), [address, "environment", "worker"]);
    assert.equal(await seen(outside), `Sessions in no scope: ${address} as ${NAME}.`);

    // In a scope, only those who are in it see the worker.
    await killed(setup, second);
    writeFileSync(join(setup.home.project, "perdure.toml"), '[pi]\nscope = "team"\n');
    const scoped = await launched(setup, []);
    assert.equal(await seen(outside), "Sessions in no scope: none.");
    const inside = await setup.terminal(["env", "PI_INTERCOM_SCOPE_ID=team", ...interactiveCommand(setup.vendor, [])]);
    assert.equal(await seen(inside), `Sessions in team: ${address} as ${NAME}.`);

    // The user's own variable wins.
    await killed(setup, scoped);
    const own = await launched(setup, [], { PI_INTERCOM_SCOPE_ID: "mine" });
    assert.equal(await seen(inside), "Sessions in team: none.");
    await killed(setup, own);
    await Promise.all([outside.kill(), inside.kill()]);
  },
};

/** Starts the worker in a terminal whose launcher has pinned the name. */
async function launched(
  setup: LiveSetup,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Terminal> {
  const pinned = { PI_INTERCOM_SESSION_NAME: NAME, PI_INTERCOM_STABLE_ID: " ", ...env };
  const terminal = await setup.terminal(setup.inTerminal(["run", ...words], { env: pinned }));
  await terminal.ready();
  return terminal;
}

async function killed(setup: LiveSetup, terminal: Terminal): Promise<void> {
  const { run } = await detail(setup);
  if (run !== null) setup.home.killRun(run.id);
  await until("the end", async () => ((await detail(setup)).run === null ? true : null));
  await terminal.kill();
}

function detail(setup: LiveSetup): Promise<WorkerDetail> {
  return setup.home.json<WorkerDetail>(["show", NAME]);
}

/** Returns what `whoami` answers in a command of the agent's own shell. */
async function toldInside(setup: LiveSetup, terminal: Terminal, word: string): Promise<string[]> {
  const answer = join(setup.home.dir, "whoami.json");
  rmSync(answer, { force: true });
  const call = setup.traits.shell.call(`${BIN} whoami --json > ${answer}.part; mv ${answer}.part ${answer}`);
  await terminal.ready();
  await terminal.prompt(`${word} ${call}`);
  await until(
    "the answer of whoami",
    () => (existsSync(answer) ? true : null),
    () => terminal.screen(),
  );
  await terminal.ready();
  const said = JSON.parse(readFileSync(answer, "utf8")) as { address: string; source: string; actor: string };
  return [said.address, said.source, said.actor];
}
