import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BIN } from "../../support/home.ts";
import { until } from "../../terminal/tmux.ts";
import type { Case } from "../case.ts";
import { interactiveCommand } from "../harness/commands.ts";
import { TerminalWorker } from "../terminal-worker.ts";

export const notAWorker: Case = {
  letter: "bl",
  title: "a program that perdure did not start says how it becomes a worker, and what its user calls it is its name",
  modes: ["tui"],
  elsewhere: "without a terminal nobody is in front of it",
  core: false,
  against: ({ person }) => (person ? null : "nothing of ours in it serves a person"),
  async run(setup) {
    const { person, shell, naming } = setup.traits;
    assert.ok(person && naming);
    const { path } = await setup.home.json<{ path: string }>(["extension", setup.vendor.name]);
    const terminal = await setup.terminal(interactiveCommand(setup.vendor, person.loads(path)));
    await terminal.ready();
    await terminal.prompt(person.command);
    await terminal.shows("not a worker of perdure");

    await terminal.ready();
    await terminal.prompt(`${naming} scout`);
    const answer = join(setup.home.dir, "whoami.json");
    await terminal.prompt(`one ${shell.call(`${BIN} whoami --json > ${answer}.part; mv ${answer}.part ${answer}`)}`);
    await until(
      "the answer of whoami",
      () => (existsSync(answer) ? true : null),
      () => terminal.screen(),
    );
    const { address, source } = JSON.parse(readFileSync(answer, "utf8")) as { address: string; source: string };
    assert.deepEqual([address, source], ["api/scout", "session"]);

    await terminal.ready();
    await terminal.prompt(person.command);
    const says = /perdure adopt NAME (--vendor \S+ --conversation \S+)/;
    const screen = await terminal.until("the command", (shown) => says.test(shown.replaceAll(/\s+/g, " ")));
    const words = says.exec(screen.replaceAll(/\s+/g, " "))?.[1]?.split(" ") ?? [];
    await terminal.kill();
    const adopted = await setup.perdure(["adopt", "scout", ...words]);
    assert.equal(adopted.code, 0, adopted.stderr);
    const worker = new TerminalWorker(setup, "scout", { said: "one" });
    const { turns } = await worker.say("two");
    assert.equal(turns.length, 2, "in the same conversation");
  },
};
