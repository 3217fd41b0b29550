import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { outputWith, runLibraryProgram } from "../../library/library-program.ts";
import { shellWords } from "../../../src/util/shell-quote.ts";
import type { Case } from "../case.ts";

const EXAMPLE = resolve(import.meta.dirname, "../../../examples/pi-daemon.js");

export const tasksByMail: Case = {
  letter: "cd",
  title: "a daemon of the library alone answers tasks by mail, in the conversation of each key, over its own kill",
  modes: ["headless"],
  elsewhere: "its turns are headless",
  core: false,
  against: ({ fileOfChoice }) => (fileOfChoice ? null : "a conversation is not kept in a file of the caller's choice"),
  async run(setup) {
    const { home, vendor } = setup;
    // The program with the provider of this test bed, which the example knows nothing of.
    const bin = join(home.dir, "with-provider");
    const found = execFileSync("sh", ["-c", `command -v ${vendor.name}`], { env: home.env, encoding: "utf8" }).trim();
    mkdirSync(bin);
    const line = `exec ${shellWords([found, ...vendor.headless.before])} "$@"`;
    writeFileSync(join(bin, vendor.name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
    home.env.PATH = `${bin}:${home.env.PATH}`;

    const source = readFileSync(EXAMPLE, "utf8");
    const ask = async (text: string): Promise<string> => (await setup.perdure(["ask", "tasks", text])).stdout;
    const first = runLibraryProgram(home, source);
    await outputWith(first, "api/tasks is ready");
    assert.match(await ask("gsd-1 one"), /turns=1 first=one/);
    assert.match(await ask("gsd-2 other"), /turns=1 first=other/);
    assert.match(await ask("gsd-1 two"), /turns=2 first=one/);

    first.kill("SIGKILL");
    await once(first, "close");
    assert.equal((await setup.perdure(["send", "tasks", "gsd-1 three", "--expects-reply"])).code, 0);
    const second = runLibraryProgram(home, source);
    await outputWith(second, "api/tasks is ready");
    assert.match(await ask("gsd-1 four"), /turns=4 first=one/, "what came while there was no daemon was a turn, too");
    second.kill("SIGKILL");
    await once(second, "close");
  },
};
