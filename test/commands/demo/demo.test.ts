import { once } from "node:events";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { differences, survivedTable, type Survivor } from "../../../src/commands/demo/survived.ts";
import { processTable } from "../../../src/runtime/process/index.ts";
import { finish, Home } from "../../support/home.ts";
import { PLAIN, sampleWorker } from "../shared/table/sample-workers.ts";

/** A home whose temporary files lie in a folder of their own, to see what is left of them. */
function demoHome(env: Record<string, string> = {}): { home: Home; left: () => string[] } {
  const home = new Home(env);
  onTestFinished(() => home.clear());
  const temporary = join(home.dir, "tmp");
  mkdirSync(temporary);
  home.env.TMPDIR = temporary;
  const processes = (): string[] =>
    processTable()
      .withVariable("HOME", home.dir)
      .map(({ pid, command }) => `${pid} ${command}`);
  return { home, left: () => [...readdirSync(temporary), ...processes()] };
}

test("a fleet is killed with everything around it, and the demo shows that all of it came back", async () => {
  const { home, left } = demoHome();
  const { code, stdout, stderr } = await home.perdure(["demo", "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { survived } = JSON.parse(stdout) as { survived: Survivor[] };
  expect(survived.map(({ after }) => after.address)).toEqual(["api/planner", "api/coder-1", "api/coder-2"]);
  for (const each of survived) expect(differences(each)).toEqual([]);
  expect(survived.map(({ after }) => after.generation)).toEqual([2, 3, 2]);
  expect(survived.map(({ mail }) => mail)).toEqual([null, "read", null]);
  expect(left()).toEqual([]);
});

test.each(["new scripted", "is killed, as in a crash", "One command"])(
  "Ctrl-C after %j leaves nothing behind",
  async (words) => {
    const { home, left } = demoHome();
    const child = home.spawn(["demo"]);
    let said = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes(words)) child.kill("SIGINT");
    });
    const [code] = (await once(child, "exit")) as [number];
    expect({ code, said }).toEqual({ code: 130, said: expect.stringContaining("Interrupted. Cleaning up") as string });
    expect(left()).toEqual([]);
  },
);

test("without tmux the demo says so, and shows one agent in the foreground", async () => {
  const { home, left } = demoHome();
  const programs = join(home.dir, "bin");
  mkdirSync(programs);
  for (const name of ["sh", "env", "readlink", "cat", "stty"]) symlinkSync(`/usr/bin/${name}`, join(programs, name));
  symlinkSync(process.execPath, join(programs, "node"));
  symlinkSync("/usr/bin/true", join(programs, "claude"));
  home.env.PATH = programs;
  const { code, stderr } = await finish(home.spawn(["demo"]));
  const first = expect.stringMatching(/tmux is not installed.*one agent, in the foreground/) as string;
  expect({ code, stderr }).toEqual({ code: 0, stderr: first });
  expect(stderr).toMatch(/Same address \(api\/coder\), a new run, the same conversation, proved\./);
  expect(stderr).toMatch(/Agents on your PATH: claude\n[^]*perdure run coder -- claude/);
  expect(left()).toEqual([]);
});

test("the demo fails, and clears up, when something does not hold", async () => {
  const { home, left } = demoHome();
  const programs = join(home.dir, "bin");
  mkdirSync(programs);
  writeFileSync(join(programs, "tmux"), '#!/bin/sh\n[ "$1" = -V ] && echo tmux 3.3a || exit 1\n', { mode: 0o755 });
  home.env.PATH = `${programs}:${home.env.PATH}`;
  const { code, stderr } = await home.perdure(["demo"]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("perdure up exited with") as string });
  expect(left()).toEqual([]);
});

test("what did not come back as it was is told, each by its name", () => {
  const before = sampleWorker("coder", "idle");
  const after = sampleWorker("coder", "idle", { generation: 4, run: { id: "another", pid: 1, startedAt: "" } });
  const whole = { before, after, told: "a", heard: "a", mail: "read" } as const;
  expect(differences(whole)).toEqual([]);
  expect(survivedTable([whole], PLAIN)).toMatch(/coder +api\/coder +✓ \S+ same, proved +3 → 4 +✓ all of it +✓ read/);
  const session = { id: "other", provenance: "assigned", proved: false } as const;
  const worst = {
    ...whole,
    after: { ...before, address: "api/x", session },
    heard: "",
    mail: "queued",
  } as const;
  expect(differences(worst)).toEqual([
    "another address",
    "another conversation",
    "not proved",
    "not a new run",
    "forgot what it was told",
    "was not told its mail",
  ]);
});
