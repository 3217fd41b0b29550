import { spawn } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { BIN, finish, Home, type Finished } from "../../support/home.ts";

function newHome(): Home {
  const home = new Home();
  onTestFinished(() => home.clear());
  return home;
}

async function into(home: Home, redirection: string, ...args: string[]): Promise<Finished> {
  const script = `exec "$0" "$@" ${redirection}`;
  return finish(spawn("/bin/sh", ["-c", script, BIN, ...args], { cwd: home.project, env: home.env }));
}

test("what was sent is not to be sent again because its receipt could not be written", async () => {
  const home = newHome();
  await home.perdure(["run", "coder", "--", "true"]);
  for (const json of [[], ["--json"]]) {
    const { code, stderr } = await into(home, "> /dev/full", "send", "coder", "once", ...json);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^perdure: Standard output could not be written \(ENOSPC[^\n]*\n {2}→ perdure events[^\n]*\n$/,
    );
    expect(stderr).not.toMatch(/try again|^ +at /m);
  }
  expect(await home.json(["inbox", "coder"])).toMatchObject({ messages: [{ body: "once" }, { body: "once" }] });
});

test("an error that standard output does not take is told on standard error, without a stack", async () => {
  const home = newHome();
  const { code, stderr } = await into(home, "> /dev/full", "show", "nobody", "--json");
  expect(code).toBe(3);
  expect(stderr).toMatch(/^perdure: This project has no workers yet[^\n]*\n {2}→ [^\n]+\n$/);
});

test("notes that nobody can read keep no command from its work", async () => {
  const home = newHome();
  expect(await into(home, "2> /dev/full", "run", "coder", "--", "sh", "-c", "echo ran")).toMatchObject({
    code: 0,
    stdout: "ran\n",
  });
  expect(await into(home, "2> /dev/full", "run", "coder")).toMatchObject({ code: 0, stdout: "ran\n" });
  expect(await into(home, "2> /dev/full", "show", "nobody")).toMatchObject({ code: 3, stdout: "" });
});
