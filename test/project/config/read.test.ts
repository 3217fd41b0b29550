import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readProjectConfig, readProjectSettings, readUserConfig } from "../../../src/project/config/read.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "perdure-config-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function read(text: string): unknown {
  writeFileSync(join(folder, "perdure.toml"), text);
  return readProjectConfig({ kind: "folder", identity: folder, root: folder, here: folder, base: "api" });
}

test("the fleet file of the design is understood", () => {
  const text = `
project = "api"
[defaults]
vendor = "claude"
restart = "on-failure"
[workers.planner]
args = ["--model", "opus"]
prompt = "prompts/planner.md"
[workers.coder]
vendor = "codex"
count = 2
worktree = true
copy = [".env"]
group = "pair"
env = { LOG = "debug" }
[workers.reviewer]
mode = "turn"
cwd = "services/api"
[workers.legacy]
vendor = "custom"
command = ["my-agent"]
new = ["--id", "{id}"]
resume = ["--continue", "{id}"]
[context]
dir = ".ai"
ext = "md"
[records]
dir = ".perdure/records"
[policy]
agents_may = ["send", "ask", "reply", "inbox", "context"]
environment = ["AWS_PROFILE"]
`;
  expect(read(text)).toMatchObject({ project: "api", policy: { environment: ["AWS_PROFILE"] } });
});

const WRONG: [what: string, text: string, line: number, message: RegExp, hint: RegExp][] = [
  ["a syntax error", 'project = "api"\n\nname = \n', 3, /./, /edit/],
  ["an unknown key", '# x\nprojct = "api"\n', 2, /unknown key "projct"/, /did you mean project\?/],
  [
    "a table of the user's own file",
    '# x\n[environment]\nkeep = "all"\n',
    2,
    /unknown key "environment"/,
    /your own config\.toml .* \[policy\] environment/,
  ],
  ["an unknown key in a table", '[context]\ndir = ".ai"\nexr = "md"\n', 3, /unknown key "context\.exr"/, /ext/],
  [
    "an unknown key of a worker",
    '[workers.a]\nvendor = "x"\n\n[workers.b]\nvendr = "x"\n',
    5,
    /"workers\.b\.vendr"/,
    /vendor/,
  ],
  ["an unknown key in an inline table", '\n[workers]\na = { vendr = "x" }\n', 3, /"workers\.a\.vendr"/, /vendor/],
  ["an unknown dotted key", '\ncontext.dri = ".ai"\n', 2, /"context\.dri"/, /dir/],
  ["an unknown table", "\n[polciy]\n", 2, /"polciy"/, /policy/],
  ["a key of every object", "toString = 1\n", 1, /unknown key "toString"/, /known keys/],
  ["a bad worker name", '\n[workers."two words"]\n', 2, /is not a name/, /try two-words/],
  ["a reserved name", '\nname = "all"\n', 2, /reserved/, /try all-1/],
  ["a name that is a number", "name = 7\n", 1, /name must be a name in quotes, not 7/, /edit/],
  ["a text that is a list", "[context]\ndir = []\n", 2, /context\.dir must be a text in quotes/, /edit/],
  ["a list that is a text", '[policy]\nagents_may = "send"\n', 2, /must be a list of texts/, /edit/],
  ["a flag that is a text", '[defaults]\nworktree = "yes"\n', 2, /must be true or false/, /edit/],
  ["a count of nothing", "[workers.a]\ncount = 0\n", 2, /must be a whole number from 1 to 1000, not 0/, /edit/],
  ["a choice that is none", '[defaults]\nrestart = "maybe"\n', 2, /one of never, on-failure, always/, /edit/],
  ["a table that is a text", 'context = ".ai"\n', 1, /context must be a table/, /edit/],
  ["a table that is a date", "\ncontext = 2025-01-01\n", 2, /context must be a table, not a date/, /edit/],
  ["the first of several", '[context]\nexr = 1\n[policy]\nx = 1\n', 2, /"context\.exr"/, /ext/], // oxfmt-ignore
  ["a key of every object as a worker", "\n[workers.__proto__]\n", 2, /"__proto__" cannot be a key/, /another/],
];

const isWorkersValue = (text: string): boolean =>
  /: (defaults|workers)\.\S+ must be/.test(thrown(() => read(text)).message);
const settings = (): unknown =>
  readProjectSettings({ kind: "folder", identity: folder, root: folder, here: folder, base: "api" });

test("who reads the settings only is told the same, but for values of workers", () => {
  for (const [, text] of WRONG.filter(([, each]) => !isWorkersValue(each))) {
    const { message } = thrown(() => read(text));
    expect(thrown(settings).message).toBe(message);
  }
  const passed = WRONG.filter(([, text]) => isWorkersValue(text));
  expect(passed.length).toBeGreaterThan(2);
  for (const [, text] of passed) {
    expect(() => read(text)).toThrow(/must be/);
    expect(settings).not.toThrow();
  }
});

/** Texts in which a search for lines that look like the key would find the wrong line. */
const HARD_TO_PLACE: typeof WRONG = [
  ["a key after a text that looks like it", 'prompt = """\nvendr = 1\n"""\nvendr = "x"\n', 5, /a\.vendr/, /vendor/],
  ["a key after a list that looks like a table", 'args = [\n["x"],\n]\n', 3, /args must be a list of texts/, /edit/],
  ["a key below such a list", 'args = ["--",\n"]",\n]\nvendr = "x"\n', 5, /a\.vendr/, /vendor/],
  ["one word of a long list", 'args = [\n  "a",\n  1,\n]\n', 4, /args must be a list of texts.*not a list/, /edit/],
  ["a dotted key with blanks", 'env . A = "x"\nvendr . b = 1\n', 3, /a\.vendr/, /vendor/],
  ["a quoted key", 'vendor = "x"\n"vendr" = 1\n', 3, /a\.vendr/, /vendor/],
  ["a quoted key in other letters", 'vendor = "x"\n"vend\\u0072" = 1\n', 3, /a\.vendr/, /vendor/],
  ["a variable of a long table", '[workers.a.env]\nA = "x"\nB = 1\n', 4, /a\.env must be a table of texts/, /edit/],
  ["a value of the second of two", 'cwd = "count"\n[workers.ab]\ncount = 0\n', 4, /ab\.count must be/, /edit/],
];

test.each(HARD_TO_PLACE)("%s is placed", (_what, text, line, message, hint) => {
  const error = thrown(() => read(`[workers.a]\n${text}`));
  expect(error.message).toMatch(new RegExp(`perdure\\.toml:${line}: `));
  expect(error.message).toMatch(message);
  expect(error.hint).toMatch(hint);
});

test("the user's file is placed in the same way", () => {
  writeFileSync(join(folder, "config.toml"), 'name = "x"\n[policy]\nagents_may = [\n  "send",\n  2,\n]\n');
  expect(() => readUserConfig(join(folder, "config.toml"))).toThrow(/config\.toml:5: policy\.agents_may must be/);
});

test("a thousand mistakes take no longer than one", () => {
  const text = Array.from({ length: 1_000 }, (_, at) => `[workers.w${at}]\nvendr = "x"\n`).join("");
  const startedMs = performance.now();
  expect(thrown(() => read(text)).message).toMatch(/perdure\.toml:2: unknown key "workers\.w0\.vendr"/);
  expect(performance.now() - startedMs).toBeLessThan(2_000);
});

const DEEP: [what: string, text: string, message: RegExp][] = [
  ["a key of very many parts", `${Array(40_000).fill("a").join(".")} = 1\n`, /perdure\.toml:1: unknown key "a"/],
  ["a table of very many parts", `\n[${Array(40_000).fill("a").join(".")}]\n`, /perdure\.toml:2: unknown key "a"/],
  [
    "a key of very many parts in a worker",
    `[workers.w]\n${Array(40_000).fill("a").join(".")} = 1\n`,
    /perdure\.toml:2: unknown key "workers\.w\.a"/,
  ],
  ["a mistake beside a very long text", `projct = 1\nname = "${"x".repeat(230_000)}"\n`, /perdure\.toml:1: /],
];

test.each(DEEP)("%s takes no memory and no time", (_what, text, message) => {
  const before = process.memoryUsage().rss;
  expect(thrown(() => read(text)).message).toMatch(message);
  expect(thrown(settings).message).toMatch(message);
  expect(process.memoryUsage().rss - before).toBeLessThan(300e6);
});

test.each(WRONG)("%s is told with its line and what would be right", (_what, text, line, message, hint) => {
  const error = thrown(() => read(text));
  expect(error).toMatchObject({ code: "usage" });
  expect(error.message).toMatch(new RegExp(`perdure\\.toml:${line}: `));
  expect(error.message).toMatch(message);
  expect(error.hint).toMatch(hint);
});

test("a value of env is never repeated", () => {
  const error = thrown(() => read('[workers.a]\nenv = { KEY = ["sk-secret"] }\n'));
  expect(error.message).toMatch(/workers\.a\.env/);
  expect(error.message).not.toContain("sk-secret");
});

test("no file is no error", () => {
  expect(readUserConfig(join(folder, "none.toml"))).toEqual({});
});

test("the user's file knows no workers", () => {
  writeFileSync(join(folder, "config.toml"), "[workers.a]\n");
  expect(() => readUserConfig(join(folder, "config.toml"))).toThrow(/unknown key "workers"/);
});

function thrown(act: () => unknown): Error & { hint?: string } {
  try {
    act();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("nothing was thrown");
}
