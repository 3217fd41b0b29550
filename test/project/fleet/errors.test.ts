import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FleetProject, thrown } from "./fleet-project.ts";

let project: FleetProject;
beforeEach(() => {
  project = new FleetProject();
  symlinkSync(project.home.dir, join(project.root, "out"));
  symlinkSync("/nowhere/at/all", join(project.root, "dangling"));
  symlinkSync("ring", join(project.root, "ring"));
  mkdirSync(join(project.root, "folder"));
  project.write("empty.md", "\n");
  project.write("long.md", "x".repeat(200_000));
  project.write("../secret.md", "from outside");
});
afterEach(() => project.home.clear());

const X = '[workers.a]\nvendor = "x"\n';
const CUSTOM = '[workers.a]\nvendor = "custom"\ncommand = ["p"]\nnew = ["{id}"]\nresume = ["{id}"]\n';
const INSIDE = /such as/;

const WRONG: [what: string, text: string, line: number, message: RegExp, hint: RegExp][] = [
  ["neither vendor nor command", "\n[workers.a]\n", 2, /workers\.a has neither a vendor nor a command/, /\[defaults\]/],
  ["a vendor and a command", `${X}command = ["x"]\n`, 3, /has both a vendor and a command/, /remove one of them/],
  ["an empty command", "[workers.a]\ncommand = []\n", 2, /command names no program/, /command = /],
  ["a command without a word", '[workers.a]\ncommand = [""]\n', 2, /command names no program/, /command = /],
  [
    "custom without a command",
    '[workers.a]\nvendor = "custom"\n',
    1,
    /has vendor = "custom" and no command/,
    /command = /,
  ],
  ["custom without new", CUSTOM.replace(/new.*\n/, ""), 1, /needs new, with \{id\}/, /new = /],
  ["custom without {id}", CUSTOM.replace('resume = ["{id}"]', 'resume = ["id"]'), 5, /needs resume/, /resume = /],
  ["new for no custom", `${X}new = ["{id}"]\n`, 3, /\.new is only for vendor = "custom"/, /remove it/],
  [
    "resume for a plain program",
    '[workers.a]\ncommand = ["p"]\nresume = ["{id}"]\n',
    3,
    /\.resume is only for/,
    /custom/,
  ],
  ["a NUL in an argument", `${X}args = ["a\\u0000b"]\n`, 3, /args contains a NUL/, /edit/],
  ["copy without a worktree", `${X}copy = [".env"]\n`, 3, /copy needs a worktree/, /worktree = true/],
  ["copy for nobody", `[defaults]\ncopy = [".env"]\n${X}`, 2, /defaults\.copy needs a worktree/, /worktree = true/],
  ["a prompt with a name beyond all names", `${X}prompt = "${"p".repeat(300)}"\n`, 3, /its name is too long/, /edit/],
  ["copy from above", `${X}worktree = true\ncopy = ["../secret.md"]\n`, 4, /"\.\.\/secret\.md" is not a file/, INSIDE],
  ["copy from elsewhere", `${X}worktree = true\ncopy = ["/etc/passwd"]\n`, 4, /is not a file inside/, INSIDE],
  ["copy through a link", `${X}worktree = true\ncopy = ["out/secret.md"]\n`, 4, /is not a file inside/, INSIDE],
  ["copy of git's own", `${X}worktree = true\ncopy = [".git/config"]\n`, 4, /is not a file inside/, INSIDE],
  ["copy of everything", `${X}worktree = true\ncopy = ["."]\n`, 4, /is not a file inside/, INSIDE],
  ["a folder above", `${X}cwd = ".."\n`, 3, /cwd "\.\." is not inside/, INSIDE],
  ["a folder above by the defaults", `[defaults]\ncwd = "../.."\n${X}`, 2, /workers\.a\.cwd "\.\.\/\.\."/, INSIDE],
  ["a folder beside with the same beginning", `${X}cwd = "../api-2"\n`, 3, /is not inside/, INSIDE],
  ["a folder elsewhere", `${X}cwd = "/etc"\n`, 3, /cwd "\/etc" is not inside/, INSIDE],
  ["a folder through a link", `${X}cwd = "out/api-2"\n`, 3, /is not inside/, INSIDE],
  ["a folder through a link to nowhere", `${X}cwd = "dangling"\n`, 3, /is not inside/, INSIDE],
  ["a folder below a link to nowhere", `${X}cwd = "dangling/a"\n`, 3, /is not inside/, INSIDE],
  ["a folder through a ring", `${X}cwd = "ring/a"\n`, 3, /is not inside/, INSIDE],
  ["a folder with a NUL", `${X}cwd = "a\\u0000"\n`, 3, /is not inside/, INSIDE],
  ["a folder out of a worktree", `${X}worktree = true\ncwd = "../b"\n`, 4, /is not inside/, INSIDE],
  ["a prompt outside", `${X}prompt = "../secret.md"\n`, 3, /prompt "\.\.\/secret\.md" is not inside/, INSIDE],
  ["a prompt through a link", `${X}prompt = "out/secret.md"\n`, 3, /is not inside/, INSIDE],
  ["a prompt that is not there", `${X}prompt = "none.md"\n`, 3, /prompt "none\.md" does not exist/, /edit/],
  ["a prompt that is a folder", `${X}prompt = "folder"\n`, 3, /it is a folder/, /edit/],
  ["a prompt without a word", `${X}prompt = "empty.md"\n`, 3, /is empty/, /edit/],
  ["a prompt without an end", `${X}prompt = "long.md"\n`, 3, /has 200000 bytes/, /edit/],
  [
    "a prompt for a plain program",
    '[workers.a]\ncommand = ["p"]\nprompt = "x"\n',
    3,
    /is only for agents/,
    /remove it/,
  ],
  ["turns of a plain program", '[workers.a]\ncommand = ["p"]\nmode = "turn"\n', 3, /is only for agents/, /tmux/],
  [
    "two that make one name",
    `${X}[workers.b-1]\n[workers.b]\ncount = 2\n`,
    4,
    /workers\.b and workers\.b-1 both make a worker b-1/,
    /rename one/,
  ],
  ["two that differ by case", `${X}[workers.A]\n`, 3, /workers\.A and workers\.a both make a worker A/, /rename one/],
  ["a name that grows too long", `[workers.${"a".repeat(63)}]\ncount = 2\n`, 1, /at most 64/, /try/],
  ["a name that becomes a device", "[workers.all]\ncount = 2\n", 1, /reserved/, /try/],
  ["a crowd", "[workers.a]\ncount = 1001\n", 2, /from 1 to 1000, not 1001/, /edit/],
  [
    "two crowds",
    "[workers]\n[workers.a]\ncount = 999\n[workers.b]\ncount = 2\n",
    1,
    /1001 workers exceed the limit of 1000/,
    /edit/,
  ],
  ["a variable with a blank", `${X}env = { "A B" = "sk-x" }\n`, 3, /env: "A B" is not a variable/, /letters/],
  ["a variable of perdure's", `${X}env.PERDURE_NAME = "sk-x"\n`, 3, /env: PERDURE_NAME is set by perdure/, /remove it/],
  ["a variable with a NUL", `${X}[workers.a.env]\nA = "sk-x\\u0000"\n`, 3, /env: A contains a NUL/, /edit/],
];

test.each(WRONG)("%s is told with file, line and what would be right", (_what, text, line, message, hint) => {
  const error = thrown(() => project.read(text));
  expect(error).toMatchObject({ code: "usage", exitCode: 2 });
  expect(error.message).toMatch(new RegExp(`perdure\\.toml:${line}: `));
  expect(error.message).toMatch(message);
  expect(error.hint).toMatch(hint);
  expect(JSON.stringify(error)).not.toContain("sk-x");
});

test("an unknown word of a prompt is told with the prompt's line and the nearest", () => {
  project.write("p.md", "You are {{name}}.\nWith {{pears}}.\n");
  const error = thrown(() => project.read(`${X}prompt = "p.md"\n`));
  expect(error).toMatchObject({ code: "usage", hint: "did you mean {{peers}}?" });
  expect(error.message).toMatch(/p\.md:2: unknown placeholder \{\{pears\}\}\.$/);
  project.write("p.md", "{{constructor}}");
  expect(thrown(() => project.read(`${X}prompt = "p.md"\n`)).hint).toBe(
    "known: {{name}} {{project}} {{peers}} {{root}}",
  );
});

/** `env` in the wrong place, of the wrong kind, or cut off. */
const LEAKS = [
  '[[workers.a]]\nenv = { K = "sk-x" }\n',
  '[[workers]]\nenv = { K = "sk-x" }\n',
  'defaults = [{ env = { K = "sk-x" } }]\n',
  '[workers.a]\nenv = "sk-x"\n',
  '[workers.a]\nenv = ["sk-x"]\n',
  '[workers.a]\nevn = { K = "sk-x" }\n',
  '[workers.a]\nenv = { K = { L = "sk-x" } }\n',
  '[workers.a]\nenv.K = 1\nenv.L = "sk-x\n',
  '[workers.a]\nargs = { env = { K = "sk-x" } }\n',
  '[workers.a]\nvendor = { env = "sk-x" }\n',
  '[workers.a]\nenv = { K = "sk-x" } oops\n',
  '[workers.a.env]\nK = "sk-x"\nK = "sk-x"\n',
];

test.each(LEAKS)("a value of env is in no part of the error for %j", (text) => {
  const error = thrown(() => project.read(text));
  expect(error).toMatchObject({ code: "usage" });
  expect(`${JSON.stringify(error)}${error.stack}${String(error.cause)}`).not.toContain("sk-x");
});
