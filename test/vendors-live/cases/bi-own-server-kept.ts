import assert from "node:assert/strict";
import type { Case } from "../case.ts";
import { OWN_TOOL, OwnServer } from "../own-server.ts";
import type { LiveSetup } from "../setup.ts";
import { keepSettings } from "../user-settings.ts";

export const ownServerKept: Case = {
  letter: "bi",
  title: "the user's own MCP server is opened and called beside our tools, and all settings stay as they were",
  modes: ["headless", "tui"],
  core: true,
  run: (setup) => runBeside(setup, "own", "perdure"),
};

export const ownServerOfOurName: Case = {
  letter: "bj",
  title: "the user's own MCP server that is called perdure, too, keeps its name and its tools; ours takes another",
  modes: ["headless"],
  elsewhere: "the servers are chosen before the start, with a terminal and without one",
  core: true,
  run: (setup) => runBeside(setup, "perdure", "perdure2"),
};

/** A worker calls a tool of the user's server and one of ours, in each of two runs. */
async function runBeside(setup: LiveSetup, theirs: string, ours: string): Promise<void> {
  const { traits, home } = setup;
  const server = new OwnServer(home.dir, theirs);
  traits.ownServers.add(home.dir, { [theirs]: server.command });
  const untouched = keepSettings(setup);
  const worker = setup.worker("w", { args: traits.ownServers.args([theirs]) });
  const calls = [traits.toolName(OWN_TOOL, theirs), traits.toolName("whoami", ours)].map(
    (tool) => `[[tool ${tool} {}]]`,
  );
  for (const turn of ["one", "two"]) {
    const since = setup.model.requests.length;
    await worker.say(`${turn} ${calls.join(" ")}`);
    await server.opened();
    await server.called();
    const told = setup.model.requests.slice(since).flatMap(({ results }) => results);
    for (const answer of [server.answer, "api/w"]) {
      assert.ok(
        told.some((result) => result.includes(answer)),
        `${answer} in: ${JSON.stringify(told)}`,
      );
    }
    if (setup.mode === "tui") await worker.kill();
    untouched();
  }
}
