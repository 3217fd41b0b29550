import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findProject } from "../../../src/project/find.ts";
import { checkCwd } from "../../../src/project/fleet/cwd.ts";
import { declaredWorkers } from "../../../src/project/fleet/names.ts";
import { readFleet } from "../../../src/project/fleet/read.ts";
import { FleetProject } from "./fleet-project.ts";

let project: FleetProject;
beforeEach(() => {
  project = new FleetProject();
});
afterEach(() => project.home.clear());

const DESIGN = `
project = "shop"
[defaults]
vendor = "claude"
args = ["--model", "opus"]
env = { LOG = "info", REGION = "eu" }
[workers.planner]
prompt = "prompts/planner.md"
[workers.coder]
vendor = "codex"
count = 2
worktree = true
copy = [".env"]
group = "pair"
about = "writes the code"
env = { LOG = "debug" }
cwd = "services/api"
[workers.reviewer]
vendor = "gemini"
mode = "turn"
restart = "never"
cwd = "services/api"
[workers.legacy]
vendor = "custom"
command = ["my-agent"]
new = ["--id", "{id}"]
resume = ["--continue={id}"]
[workers.build]
command = ["make", "watch"]
args = ["-j4"]
`;

test("a fleet is read with its defaults, names and places", () => {
  project.write("prompts/planner.md", "You are {{name}}.\n");
  const fleet = project.read(DESIGN);
  const beside = (name: string): string => join(project.home.dir, "api.worktrees", name);
  const plain = {
    command: null,
    args: [],
    declared: null,
    cwd: project.root,
    worktree: null,
    group: null,
    about: null,
    env: { LOG: "info", REGION: "eu" },
    mode: "tmux",
    turnsFrom: null,
    activate: "mail",
    restart: "on-failure",
    prompt: null,
  };
  const coder = (name: string): object => ({
    ...plain,
    name,
    entry: "coder",
    vendor: "codex",
    group: "pair",
    about: "writes the code",
    cwd: join(beside(name), "services/api"),
    env: { LOG: "debug", REGION: "eu" },
    worktree: { path: beside(name), branch: `perdure/${name}`, copy: [".env"] },
  });
  const legacy = { name: "legacy", entry: "legacy", vendor: "custom", command: ["my-agent"] };
  const review = { name: "reviewer", entry: "reviewer", vendor: "gemini", cwd: join(project.root, "services/api") };
  const args = ["--model", "opus"];
  expect(fleet).toMatchObject({ text: DESIGN, root: project.root, project: "shop" });
  expect(fleet?.workers).toEqual([
    { ...plain, name: "planner", entry: "planner", vendor: "claude", args, prompt: "You are planner.\n" },
    coder("coder-1"),
    coder("coder-2"),
    { ...plain, ...review, mode: "turn", restart: "never" },
    { ...plain, ...legacy, declared: { new: ["--id", "{id}"], resume: ["--continue={id}"] } },
    { ...plain, name: "build", entry: "build", vendor: null, command: ["make", "watch"], args: ["-j4"] },
  ]);
});

test("no file, and a file without workers, is no fleet", () => {
  expect(readFleet(findProject(project.root))).toBeNull();
  expect(project.read('project = "shop"\n[workers]\n')).toBeNull();
});

test("an entry with a count of one has the plain name, for mail and for the fleet alike", () => {
  const text =
    '[defaults]\nvendor = "x"\ngroup = "g"\n[workers.one]\ncount = 1\n[workers.two]\ncount = 2\n[workers.three]\n';
  const names = ["one", "two-1", "two-2", "three"];
  expect(project.read(text)?.workers.map(({ name }) => name)).toEqual(names);
  const entryOf = (name: string): string => name.replace(/-\d$/, "");
  const declared = names.map((name) => ({ name, entry: entryOf(name), group: "g" }));
  expect(declaredWorkers(findProject(project.root))).toEqual(declared);
});

test("an entry of its own says no to the defaults", () => {
  const worker = project.worker(
    '[defaults]\nvendor = "x"\nworktree = true\ncopy = [".env"]\nmode = "turn"\n[workers.a]\nworktree = false\nmode = "tmux"\n[workers.b]\n',
  );
  expect(worker).toMatchObject({ worktree: null, mode: "tmux", cwd: project.root });
});

test("the defaults' words for one vendor are not given to another, nor its prompt and turns to a plain program", () => {
  project.write("p.md", "hello");
  const defaults = '[defaults]\nvendor = "x"\nargs = ["--x"]\nprompt = "p.md"\nmode = "turn"\n';
  expect(project.worker(`${defaults}[workers.a]\nvendor = "x"\n`)).toMatchObject({ args: ["--x"], prompt: "hello" });
  expect(project.worker(`${defaults}[workers.a]\nvendor = "y"\n`)).toMatchObject({ args: [], mode: "turn" });
  const plain = project.worker(`${defaults}[workers.a]\ncommand = ["make"]\n`);
  expect(plain).toMatchObject({ vendor: null, args: [], prompt: null, mode: "tmux" });
});

test("the words of a prompt are filled in once, each worker with its own", () => {
  project.repository();
  project.write("p.md", "{{name}} of {{ project }} at {{root}} with {{peers}}; $& {x} {{{{name}}}}");
  const fleet = project.read(
    '[defaults]\nvendor = "x"\n[workers.a]\nprompt = "p.md"\n[workers.b]\nprompt = "p.md"\nworktree = true\n',
  );
  expect(fleet?.workers.map(({ prompt }) => prompt)).toEqual([
    `a of api at ${project.root} with b; $& {x} {{a}}`,
    `b of api at ${join(project.home.dir, "api.worktrees", "b")} with a; $& {x} {{b}}`,
  ]);
  expect(readFleet(findProject(project.root), "api-1f3a")?.workers[0]?.prompt).toContain("of api-1f3a at");
  expect(project.worker('[workers.solo]\nvendor = "x"\nprompt = "p.md"\n').prompt).toContain("with nobody;");
});

test("in a worktree the main tree's fleet is read, with the same places", () => {
  project.repository();
  const tree = join(project.home.dir, "tree");
  project.home.git(["worktree", "add", "-q", tree]);
  writeFileSync(join(tree, "perdure.toml"), '[workers.other]\nvendor = "x"\n');
  expect(readFleet(findProject(tree))).toBeNull();
  const text = '[workers.a]\nvendor = "x"\nworktree = true\n[workers.b]\nvendor = "x"\n';
  expect(project.read(text, tree)?.workers).toEqual(project.read(text)?.workers);
  expect(declaredWorkers(findProject(tree)).map(({ name }) => name)).toEqual(["a", "b"]);
});

test("a submodule's worktrees lie beside it, from wherever one looks", () => {
  project.repository();
  project.home.git(["-c", "protocol.file.allow=always", "submodule", "add", "-q", project.root, "parts"]);
  const parts = join(project.root, "parts");
  const tree = join(project.home.dir, "tree");
  project.home.git(["worktree", "add", "-q", tree], parts);
  project.write("parts/perdure.toml", '[workers.a]\nvendor = "x"\nworktree = true\n');
  const fleet = readFleet(findProject(parts));
  expect(fleet?.workers[0]?.worktree?.path).toBe(join(project.root, "parts.worktrees", "a"));
  expect(readFleet(findProject(tree))).toEqual(fleet);
});

test("a bare repository's fleet is that of the tree one stands in, its worktrees beside the repository", () => {
  project.repository();
  const bare = join(project.home.dir, "shop.git");
  project.home.git(["clone", "-q", "--bare", project.root, bare]);
  const tree = join(project.home.dir, "tree");
  project.home.git(["worktree", "add", "-q", tree], bare);
  writeFileSync(join(tree, "perdure.toml"), '[workers.a]\nvendor = "x"\nworktree = true\n[workers.b]\nvendor = "x"\n');
  const [a, b] = readFleet(findProject(tree))?.workers ?? [];
  expect(a?.worktree?.path).toBe(join(project.home.dir, "shop.worktrees", "a"));
  expect(b?.cwd).toBe(tree);
});

test("a folder may be any inside the project; whether it is there and still inside is asked before a start", () => {
  const fleet = project.read('[workers.a]\nvendor = "x"\ncwd = "x/../services"\n');
  const [worker] = fleet?.workers ?? [];
  if (!fleet || !worker) throw new Error("no fleet");
  const services = join(project.root, "services");
  expect(worker.cwd).toBe(services);
  expect(() => checkCwd(fleet, worker)).toThrow(/does not exist/);
  mkdirSync(services);
  expect(() => checkCwd(fleet, worker)).not.toThrow();
  rmSync(services, { recursive: true });
  symlinkSync(project.home.dir, services);
  expect(() => checkCwd(fleet, worker)).toThrow(/is outside/);
});
