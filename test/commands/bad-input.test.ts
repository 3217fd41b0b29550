import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VERBS } from "../../src/commands/verbs.ts";
import type { ErrorBody } from "../../src/protocol/errors.ts";
import { BIN, finish } from "../support/home.ts";
import type { BadInput } from "./bad-input/row.ts";
import { BAD_INPUTS } from "./bad-input/rows.ts";
import { BadInputHome } from "./bad-input/bad-input-home.ts";

const fixture = new BadInputHome();
const { home } = fixture;

beforeAll(() => fixture.prepare());
afterAll(() => home.clear());

const titled = BAD_INPUTS.map((row) => ({ ...row, title: title(row) }));

test.each(titled)(
  "$title: a sentence, a hint, exit $exit, nothing changed",
  async ({ args, cwd, env, exit, code, message, hint }) => {
    const surroundings = {
      cwd: join(home.dir, cwd ?? "api"),
      env: { ...home.env, ...replaceHome(env ?? {}) },
    };
    const before = fixture.snapshot();
    const [text, json] = await Promise.all([
      home.perdure(args, surroundings),
      home.perdure(withJson(args), surroundings),
    ]);

    const { schemaVersion, error } = JSON.parse(json.stdout) as { schemaVersion: number; error: ErrorBody };
    expect.soft(schemaVersion).toBe(1);
    expect.soft(error.message).toMatch(message);
    expect.soft(error.hint).toMatch(hint);
    expect.soft(error.code).toBe(code);
    expect.soft(typeof error.retryable).toBe("boolean");
    expect.soft(error.message, "one sentence on one line").toMatch(/^[^\n]+[^\n?][.?]$|^[^\n]+\/[^\n]*$/);
    expect.soft(json).toMatchObject({ code: exit, stderr: "" });
    expect.soft(text).toMatchObject({ code: exit, stdout: "" });
    expect.soft(text.stderr).toMatch(/^perdure: [^\n]+\n {2}→ [^\n]+\n$/);
    expect(fixture.snapshot()).toEqual(before);
  },
);

test("the table covers every verb there is", () => {
  const covered = new Set(BAD_INPUTS.map(({ args }) => args[0] ?? ""));
  expect([...covered]).toEqual(expect.arrayContaining([...Object.keys(VERBS), "help"]));
});

test("a folder that was removed under the shell is said to be gone", async () => {
  const script = `mkdir "$HOME/fleeting" && cd "$HOME/fleeting" && rmdir "$HOME/fleeting" && exec "$0" "$@"`;
  for (const args of [["ls"], ["whoami"], ["run", "coder", "--", "true"]]) {
    const child = spawn("/bin/sh", ["-c", script, BIN, ...args], { env: home.env, cwd: home.dir });
    const { code, stderr } = await finish(child);
    expect(stderr).toMatch(/no longer exists\.\n {2}→ cd /);
    expect(code).toBe(3);
  }
});

function withJson(args: string[]): string[] {
  const dashes = args.indexOf("--");
  return dashes < 0 ? [...args, "--json"] : args.toSpliced(dashes, 0, "--json");
}

function replaceHome(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replace("{home}", home.dir)]));
}

function title({ args, cwd, env }: BadInput): string {
  const words = args
    .map((word) => (/^[\w./=-]+$/.test(word) ? word : JSON.stringify(word)))
    .map((word) => word.slice(0, 24));
  const where = cwd ? ` (in ${cwd})` : "";
  const variables = env
    ? ` (${Object.entries(env)
        .map((pair) => pair.join("="))
        .join(" ")})`
    : "";
  return `perdure ${words.join(" ")}${where}${variables}`;
}
