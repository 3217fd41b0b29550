import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { BIN, finish, Home, type Finished } from "../../support/home.ts";

async function homeWithCoder(): Promise<Home> {
  const home = new Home();
  onTestFinished(() => home.clear());
  await home.perdure(["run", "coder", "--", "true"]);
  return home;
}

/** Runs a line of shell, in which `$0` is perdure. */
async function shell(home: Home, script: string): Promise<Finished> {
  return finish(spawn("/bin/sh", ["-c", script, BIN], { cwd: home.project, env: home.env }));
}

test("a text that is not UTF-8 is refused, however it comes, and one that is arrives as it is", async () => {
  const home = await homeWithCoder();
  writeFileSync(join(home.project, "latin1"), Buffer.from([0x6b, 0xe4, 0x74, 0x68, 0x65]));
  const scripts = [
    '"$0" send coder - < latin1',
    '"$0" send coder --file latin1',
    '"$0" send coder "$(cat latin1)"',
    '"$0" ask coder "$(cat latin1)"',
  ];
  for (const script of scripts) {
    const { code, stderr } = await shell(home, script);
    expect({ script, code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/is not UTF-8 text\.\n {2}→ .*iconv.*--attach FILE\n$/),
    });
  }
  // What stands in place of a byte that cannot be decoded is a letter like any other.
  await home.perdure(["send", "coder", "käthe \ufffd 名"]);
  expect(await home.json(["inbox", "coder"])).toMatchObject({ messages: [{ body: "käthe \ufffd 名" }] });
});

test("an empty standard input is told as that", async () => {
  const home = await homeWithCoder();
  const { code, stderr } = await home.perdure(["send", "coder", "-"]);
  expect({ code, stderr }).toMatchObject({ code: 2 });
  expect(stderr).toMatch(/^perdure: send: standard input was empty, so there is no text\.\n/);
});

test("an ask of several names each one that did not answer", async () => {
  const home = await homeWithCoder();
  const { code, stderr } = await home.perdure(["ask", "nobody,coder,noone", "hi", "--timeout", "100ms"]);
  expect(code).toBe(3);
  expect(stderr).toMatch(/^perdure: 3 of 3 questions were not answered\.\n/m);
  for (const name of ["nobody", "coder", "noone"]) expect(stderr).toMatch(new RegExp(`^  ${name}: `, "m"));
  expect((await home.perdure(["ask", "nobody", "hi"])).stderr).toMatch(/^perdure: There is no worker "nobody"/);
});
