import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { BIN, Home } from "../../support/home.ts";

// A shell under claude's name stands in for the service, which is known by its command line.

test("an agent below a vendor's background service neither writes as the worker that started it, nor is it", async () => {
  const home = new Home();
  try {
    const bin = join(home.dir, "bin");
    mkdirSync(bin);
    copyFileSync("/bin/sh", join(bin, "claude"));
    home.env.PATH = `${bin}:${dirname(BIN)}:${home.env.PATH}`;
    const tried = ["send operator hello", "inbox", "mcp", "whoami --json"];
    const lines = tried.map((words) => `'${BIN}' ${words} </dev/null; echo "rc $?"`);
    writeFileSync(join(home.project, "daemon"), `${lines.join("\n")}\n`);
    const service = "claude daemon run --origin transient; :";
    const { stdout, stderr } = await home.perdure(["run", "coder", "--", "sh", "-c", service]);
    expect(stdout.match(/^rc .*$/gm)).toEqual(["rc 5", "rc 5", "rc 5", "rc 0"]);
    expect(stderr).toContain("it was started inside coder, and serves agents of other folders, too");
    expect(stdout).toMatch(/"name": "anon~[^"]+"[^]*"supervisor": null/);
    expect((await home.json<{ messages: unknown[] }>(["inbox"])).messages).toEqual([]);
  } finally {
    await home.clear();
  }
});
