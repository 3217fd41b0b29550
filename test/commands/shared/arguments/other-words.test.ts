import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { BIN, finish, Home } from "../../../support/home.ts";

function newHome(): Home {
  const home = new Home();
  onTestFinished(() => home.clear());
  return home;
}

test("list, status and ps show the workers, version says which, and open goes where attach does", async () => {
  const home = newHome();
  await home.perdure(["run", "coder", "--", "true"]);
  for (const word of ["list", "status", "ps"]) {
    const { code, stdout } = await home.perdure([word]);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/^NAME .*\ncoder .* stopped /) });
    expect((await home.perdure(["--json", word])).stdout).toContain('"workers"');
  }
  expect(await home.perdure(["version"])).toEqual(await home.perdure(["--version"]));
  expect((await home.perdure(["open", "coder"])).stderr).toBe((await home.perdure(["attach", "coder"])).stderr);
});

test("start and resume run a worker again, and bring up one of perdure.toml", async () => {
  const home = newHome();
  const first = await home.perdure(["start", "helper", "--", "sh", "-c", "echo ran"]);
  expect(first).toMatchObject({ code: 0, stdout: "ran\n" });
  expect(await home.perdure(["resume", "helper"])).toMatchObject({ code: 0, stdout: "ran\n" });
  writeFileSync(join(home.project, "perdure.toml"), '[workers.coder]\ncommand = ["sleep", "60"]\ncount = 2\n');
  for (const words of [["start"], ["resume", "coder"], ["start", "coder-2"]]) {
    const { code, stderr } = await home.perdure(words);
    expect({ code, stderr }).toMatchObject({ code: 5, stderr: expect.stringContaining("perdure trust") });
  }
});

test.each(["run", "start", "resume"])(
  "%s gives the program the limit of open files that its caller has",
  async (word) => {
    const home = newHome();
    const script = `ulimit -S -n 777; exec "$0" ${word} coder -- sh -c "ulimit -S -n"`;
    const child = spawn("/bin/sh", ["-c", script, BIN], { cwd: home.project, env: home.env });
    expect(await finish(child)).toMatchObject({ code: 0, stdout: "777\n" });
  },
);

test("a worker of perdure.toml that was never up is told so, with the command", async () => {
  const home = newHome();
  writeFileSync(join(home.project, "perdure.toml"), '[workers.coder]\ncommand = ["true"]\n');
  const missing = { code: 3, stderr: "perdure: coder is in perdure.toml, and was never up.\n  → perdure up coder\n" };
  for (const verb of ["show", "attach", "logs", "history"]) {
    expect(await home.perdure([verb, "coder"])).toMatchObject(missing);
  }
  await home.perdure(["run", "other", "--", "true"]);
  expect(await home.perdure(["show", "Coder"])).toMatchObject(missing);
  expect((await home.perdure(["show", "nobody"])).stderr).toContain("→ perdure ls");
});

test("help explains the verb that a word stands for, or names those that it may mean", async () => {
  const home = newHome();
  expect(await home.perdure(["help", "list"])).toEqual(await home.perdure(["help", "ls"]));
  expect(await home.perdure(["help", "start"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("perdure up NAME"),
  });
  expect(await home.perdure(["help", "kill"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("perdure stop"),
  });
});

test("words with another name here are in no list", async () => {
  const home = newHome();
  const { stdout } = await home.perdure(["__complete", ""]);
  expect(stdout).not.toMatch(/^(?:list|status|ps|open|start|resume|new|add|rm|kill)\t/m);
});

test("words for something new name the line that adds it to the fleet, and so does up of a name that is in no file", async () => {
  const home = newHome();
  for (const word of ["new", "add", "create"])
    expect((await home.perdure([word, "x"])).stderr).toContain("of the fleet: perdure up NAME -- COMMAND");
  writeFileSync(join(home.project, "perdure.toml"), '[workers.coder]\ncommand = ["sleep", "60"]\n');
  expect((await home.perdure(["up", "xyz"])).stderr).toContain("it has coder; a new one: perdure up xyz -- COMMAND");
  expect((await home.perdure(["-v"])).stderr).toContain("did you mean: perdure --version?");
});
