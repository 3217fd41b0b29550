// Arguments and environment reach the program as the caller gave them.
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { finish, Home } from "../support/home.ts";
import { spawn } from "node:child_process";

const home = new Home();
afterAll(() => home.clear());

const ARGUMENTS: [what: string, ...words: string[]][] = [
  ["empty words", "", "a", "", ""],
  ["quotes", `it's`, `"double"`, "`back`", `'"'"'`, "\\", "\\\\n"],
  ["newlines and tabs", "one\ntwo\n", "\n", "\t", "\r\n"],
  ["shell syntax", "$HOME", "$(id)", "${x:?}", "*", "?", "~", "a;b", "&", "|", ">f", "#", "!"],
  ["options", "--", "-x", "--json", "--help", "-"],
  ["other alphabets", "ünï", "日本", "🙂", "\x01\x7f\x1b[0m"],
  ["a long one", "x".repeat(60_000)],
];

test.for(ARGUMENTS)("%s", async ([, ...words]) => {
  const { code, stdout } = await home.perdure([
    "run",
    "words",
    "--",
    "/bin/sh",
    "-c",
    String.raw`printf '%s\0' "$@"`,
    "sh",
    ...words,
  ]);
  expect({ code, words: stdout.split("\0").slice(0, -1) }).toEqual({ code: 0, words });
});

test.for(["a=b", "with space", "quo'te", 'quo"te', "$HOME", "-dash", "new\nline", "%s"])(
  "a program in a folder named %j",
  async (folder) => {
    mkdirSync(join(home.project, folder));
    const program = join(home.project, folder, "p=q $x");
    copyFileSync("/bin/echo", program);
    expect(await home.perdure(["run", "path", "--", program, "hello"])).toMatchObject({ code: 0, stdout: "hello\n" });
    const relative = `./${folder}/p=q $x`;
    expect(await home.perdure(["run", "path", "--", relative, "hello"])).toMatchObject({ code: 0, stdout: "hello\n" });
  },
);

const DOCUMENTED = [
  "AI_AGENT_ID",
  "OTEL_RESOURCE_ATTRIBUTES",
  "PERDURE_GENERATION",
  "PERDURE_NAME",
  "PERDURE_PROJECT",
  "PERDURE_RUN",
  "PERDURE_SOCKET",
  "PERDURE_TOKEN",
  "PI_INTERCOM_SESSION_NAME",
  "PI_INTERCOM_STABLE_ID",
];

test("the environment is the caller's, and the documented variables; none of ours", async () => {
  const names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".split("");
  const caller: Record<string, string> = {
    ...home.env,
    ...Object.fromEntries(names.map((name) => [name, `of the caller: ${name}\n$x '"`])),
    PWD: home.project,
    EMPTY: "",
    ENV: "/nonexistent",
    BASH_ENV: "/nonexistent",
    CDPATH: "/tmp",
    PS1: "$ ",
    SHLVL: "3",
    OLDPWD: "/usr",
  };
  const given = await environmentOf(caller, "/usr/bin/env", ["-0"]);
  const { stdout } = await home.perdure(["run", "environment", "--", "/usr/bin/env", "-0"], { env: caller });
  const got = parse(stdout);
  expect(
    Object.keys(got)
      .filter((name) => !(name in given))
      .toSorted(),
  ).toEqual(DOCUMENTED);
  expect(Object.fromEntries(Object.entries(got).filter(([name]) => name in given))).toEqual(given);
});

async function environmentOf(
  env: Record<string, string>,
  file: string,
  args: string[],
): Promise<Record<string, string>> {
  return parse((await finish(spawn(file, args, { env, cwd: home.project }))).stdout);
}

function parse(text: string): Record<string, string> {
  const pairs = text.split("\0").slice(0, -1);
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
}
