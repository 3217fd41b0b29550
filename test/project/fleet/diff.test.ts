import * as fc from "fast-check";
import { parse } from "smol-toml";
import { afterEach, beforeEach, expect, test } from "vitest";
import { printable } from "../../../src/commands/shared/output.ts";
import { fleetChanges, commandSummary } from "../../../src/project/fleet/diff.ts";
import { FleetProject } from "./fleet-project.ts";

let project: FleetProject;
beforeEach(() => {
  project = new FleetProject();
});
afterEach(() => project.home.clear());

function shown(trusted: string | null, present: string): string[] {
  return fleetChanges(trusted, present).map(({ sign, text }) => `${sign} ${text}`);
}

const BEFORE = `project = "api"
[defaults]
vendor = "claude"
[workers.coder]
args = ["--model", "opus"]
env = { LOG = "info", KEY = "sk-1" }
[workers.gone]
count = 2
`;

test("what came, went and changed is shown in its table, and nothing else", () => {
  const after = `project = "shop" # a comment
[workers.coder]
env.KEY = "sk-2"
env.LOG = "info"
args = [
  "--model", "haiku" ]
[workers.solo]
[policy]
agents_may = []
[defaults]
vendor = "claude"
`;
  expect(shown(BEFORE, after)).toEqual([
    '- project = "api"',
    '+ project = "shop"',
    "  [workers.coder]",
    "- env.KEY = …",
    "+ env.KEY = … (changed value)",
    '- args = ["--model", "opus"]',
    '+ args = ["--model", "haiku"]',
    "+ [workers.solo]",
    "+ [policy]",
    "+ agents_may = []",
    "- [workers.gone]",
    "- count = 2",
  ]);
});

test("a fleet file without an old text, or with an unreadable one, shows everything", () => {
  const all = [
    '+ project = "api"',
    "+ [defaults]",
    '+ vendor = "claude"',
    "+ [workers.coder]",
    '+ args = ["--model", "opus"]',
    "+ env.LOG = …",
    "+ env.KEY = …",
    "+ [workers.gone]",
    "+ count = 2",
  ];
  expect(shown(null, BEFORE)).toEqual(all);
  expect(shown("[[[", BEFORE)).toEqual(all);
});

test("comments and layout alone are no change, and what comments say is not shown", () => {
  const after = BEFORE.replace('["--model", "opus"]', '[ "--model", # sk-older\n"opus" ]');
  expect(after).not.toBe(BEFORE);
  expect(shown(BEFORE, `# env = { KEY = "sk-old" }\n${after}`)).toEqual([]);
});

test("a worker called env hides nothing of what it runs", () => {
  expect(shown(null, '[workers.env]\ncommand = ["rm", "-rf"]\nenv.A = "sk-1"\n')).toEqual([
    "+ [workers.env]",
    '+ command = ["rm", "-rf"]',
    "+ env.A = …",
  ]);
});

test("nothing in a value or a key can make a line, or reach the terminal", () => {
  const text =
    '[workers.coder]\nargs = ["a\\n+ [workers.safe]", "\\u001b[2J\\u009b\\u202e"]\nenv."\\u001b]0;x\\u0007\\n" = "v"\n';
  for (const line of shown(null, text)) expect(printable(line)).toMatch(/^[\u0020-\u007e…]*$/);
  const fleet = project.read('[workers.a]\ncommand = ["p\\nsafe: true in .", "\\u001b[2J"]\ncwd = "x\\ny"\n');
  const lines = fleet === null ? [] : commandSummary(fleet);
  expect(lines.map(printable)).toEqual(["a: 'p\\nsafe: true in .' '\\u001b[2J' in x\\ny"]);
});

test("what a fleet runs is told in a line each, with the names of its variables only", () => {
  const fleet = project.read(`
[defaults]
vendor = "claude"
env = { KEY = "sk-1" }
[workers.planner]
args = ["--model", "opus 4"]
[workers.coder]
worktree = true
cwd = "src"
env = {}
[workers.hooked]
worktree = true
worktree_hooks = true
[workers.mine]
vendor = "custom"
command = ["my-agent"]
new = ["--id={id}"]
resume = ["-r", "{id}"]
args = ["-v"]
`);
  expect(fleet === null ? [] : commandSummary(fleet)).toEqual([
    "planner: KEY=… claude --model 'opus 4' in .",
    "coder: KEY=… claude in ../api.worktrees/coder/src",
    "hooked: KEY=… claude in ../api.worktrees/hooked, a worktree made with the repository's git hooks",
    "mine: KEY=… my-agent '--id={id}' -v in .",
  ]);
});

// Every way to write env that TOML has, with values that would show in whatever is printed of them.
const SECRET = "s3cr3t";
const value = fc
  .tuple(
    fc.constantFrom("basic", "literal", "multi", "multi literal"),
    fc.string({ unit: "grapheme-ascii", maxLength: 12 }),
  )
  .map(([form, noise]) => {
    const harmless = noise.replace(/['"\\]/g, "#");
    if (form === "basic") return JSON.stringify(`${SECRET}${noise}${SECRET}`);
    if (form === "literal") return `'${SECRET}${harmless}'`;
    if (form === "multi") return `"""\n${SECRET}\n[workers.b]\nargs = ${SECRET} # ${harmless}\n\\"\\"\\"${SECRET}"""`;
    return `'''\n${SECRET} = "${SECRET}"\n] } ${harmless}${SECRET}'''`;
  });
const key = fc.constantFrom("KEY", '"KEY"', "'KEY'", '"K\\u0045Y"', '"a.b"', '"]"', '"env"', "'#'");
const word = fc.constantFrom("env", '"env"', "'env'", '"\\u0065nv"', " env ", "ENV");
const entry = fc.tuple(
  fc.uniqueArray(key, { minLength: 1, maxLength: 3, selector: (k) => k.replace(/[^a-zA-Z.#\]]/g, "").slice(0, 2) }),
  word,
  fc.array(value, { minLength: 3, maxLength: 3 }),
);
const written = fc
  .tuple(fc.constantFrom("inline", "dotted", "table", "whole", "list", "outside"), entry)
  .map(([form, [keys, env, values]]) => {
    const pairs = keys.map((each, at) => `${each} = ${values[at] ?? "''"}`);
    if (form === "inline") return `[workers.a]\n${env} = { ${pairs.join(", ")} }\n`;
    if (form === "dotted") return `[workers.a]\n${pairs.map((pair) => `${env}.${pair}`).join("\n")}\n`;
    if (form === "table") return `[ workers . "a" . ${env} ]\n${pairs.join("\n")}\n`;
    if (form === "whole") return `workers.a = { args = [], ${env} = { ${pairs.join(", ")} } }\n`;
    if (form === "list") return `[[workers.a]]\n${env} = { ${pairs.join(", ")} }\n`;
    return `${env} = [{ ${pairs.join(", ")} }]\ndefaults.${env} = ${values[0] ?? "''"}\n`;
  });

test("no way to write env shows a value, whatever it is compared with", () => {
  const legal = written.filter((text) => isToml(text));
  fc.assert(
    fc.property(legal, fc.option(legal), (present, trusted) => {
      const lines = shown(trusted, present);
      expect(lines.join("\n")).not.toContain(SECRET);
      expect(trusted !== null || lines.some((line) => line.includes("…"))).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test("most texts that the property test makes are valid TOML", () => {
  const texts = fc.sample(written, 500);
  expect(texts.filter(isToml).length).toBeGreaterThan(350);
});

function isToml(text: string): boolean {
  try {
    return Object.keys(parse(text)).length > 0;
  } catch {
    return false;
  }
}
