import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Identity } from "../../../src/project/whoami.ts";
import type { ProjectSummary } from "../../../src/protocol/records/admin.ts";
import { BIN, Home } from "../../support/home.ts";

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.clear());

function whoami(env: Record<string, string> = {}, args: string[] = [], cwd = home.project): Promise<Identity> {
  return home.json<Identity>(["whoami", ...args], { env: { ...home.env, ...env }, cwd });
}

/** Claude's own registry of live sessions, as it writes it. */
function plantClaudeSession(entry: object): Record<string, string> {
  const folder = join(home.dir, "claude-config", "sessions");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "4242.json"), JSON.stringify(entry));
  return { CLAUDE_CONFIG_DIR: join(home.dir, "claude-config"), CLAUDE_PID: "4242", CLAUDE_CODE_SESSION_ID: "s-1" };
}

function writeUserConfig(text: string): void {
  mkdirSync(join(home.dir, ".config", "perdure"), { recursive: true });
  writeFileSync(join(home.dir, ".config", "perdure", "config.toml"), text);
}

test("the rules answer in their order, and each says that it did", async () => {
  const session = plantClaudeSession({ sessionId: "s-1", name: "by-session" });
  const pi = { PI_INTERCOM_SESSION_NAME: "by-pi" };
  const own = { PERDURE_NAME: "by-variable" };

  const fallback = await whoami();
  expect(fallback).toMatchObject({ source: "fallback", durable: false, project: "api" });
  expect(await whoami(session)).toMatchObject({ name: "by-session", source: "session", durable: true });
  writeUserConfig('name = "by-user"\n');
  expect(await whoami(session)).toMatchObject({ name: "by-user", source: "user-config", durable: true });
  writeFileSync(join(home.project, "perdure.toml"), 'name = "by-project"\n');
  expect(await whoami(session)).toMatchObject({ name: "by-project", source: "project-config", durable: true });
  expect(await whoami({ ...session, ...pi })).toMatchObject({
    name: "by-pi",
    source: "environment:PI_INTERCOM_SESSION_NAME",
  });
  expect(await whoami({ ...session, ...pi, ...own })).toMatchObject({ name: "by-variable", source: "environment" });
  expect(await whoami({ ...session, ...pi, ...own }, ["--as", "by-flag"])).toMatchObject({
    name: "by-flag",
    source: "flag",
  });
});

test("an empty or blank variable counts as unset", async () => {
  const empty = { PERDURE_NAME: "", PI_INTERCOM_SESSION_NAME: "", PERDURE_PROJECT: "", CLAUDE_PID: "" };
  expect(await whoami(empty)).toMatchObject({ source: "fallback", project: "api" });
  const blank = Object.fromEntries(Object.keys(empty).map((name) => [name, "  "]));
  expect(await whoami({ ...blank, PERDURE_RUN: " " })).toMatchObject({ source: "fallback" });
  expect(await whoami({ ...empty, PI_INTERCOM_SESSION_NAME: "x" })).toMatchObject({ address: "api/x" });
});

test("PERDURE_PROJECT names the project whatever the folder is", async () => {
  expect(await whoami({ PERDURE_NAME: "x", PERDURE_PROJECT: "web" })).toMatchObject({
    address: "web/x",
    project: "web",
  });
});

test("a session's name counts only if the session is this one and the name is legal", async () => {
  const other = plantClaudeSession({ sessionId: "another", name: "by-session" });
  expect(await whoami(other)).toMatchObject({ source: "fallback" });
  const illegal = plantClaudeSession({ sessionId: "s-1", name: "two words" });
  expect(await whoami(illegal)).toMatchObject({ source: "fallback" });
  writeFileSync(join(home.dir, "claude-config", "sessions", "4242.json"), '{"sessionId":"s-1","na');
  expect(await whoami(illegal)).toMatchObject({ source: "fallback" });
});

test("the name of a Pi session is the last one that its file has, and an empty one takes it back", async () => {
  const file = join(home.dir, "session.jsonl");
  const said = { type: "message", message: { role: "user", content: '{"type":"session_info","name":"said"}' } };
  const write = (...names: string[]): void =>
    writeFileSync(
      file,
      [{ type: "session", id: "s" }, ...names.map((name) => ({ type: "session_info", name })), said]
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(""),
    );
  const env = { PI_SESSION_FILE: file };
  expect(await whoami(env)).toMatchObject({ source: "fallback" });
  write("first", "second");
  expect(await whoami(env)).toMatchObject({ name: "second", source: "session", durable: true });
  expect(await whoami({ ...env, PERDURE_NAME: "mine" })).toMatchObject({ name: "mine", source: "environment" });
  write("first", "two words");
  expect(await whoami(env)).toMatchObject({ source: "fallback" });
  write("first", "");
  expect(await whoami(env)).toMatchObject({ source: "fallback" });
});

test("a fallback alias can be no worker's name, and is the same for one agent", async () => {
  const [first, again, other] = [
    await whoami({ AI_AGENT_ID: "a" }),
    await whoami({ AI_AGENT_ID: "a" }),
    await whoami({ AI_AGENT_ID: "b" }),
  ];
  expect(first?.name).toMatch(/~/);
  expect(first?.name).toBe(again?.name);
  expect(first?.name).not.toBe(other?.name);
  expect(await home.perdure(["run", first?.name ?? "", "--", "true"])).toMatchObject({ code: 2 });
});

test("whoami starts no daemon and leaves nothing behind", async () => {
  await whoami();
  await whoami({ PERDURE_NAME: "x" });
  expect(existsSync(home.state)).toBe(false);
  expect(readdirSync(home.project)).toEqual([]);
});

test("two folders called api are two projects once both have workers", async () => {
  const second = join(home.dir, "other", "api");
  mkdirSync(second, { recursive: true });
  await home.perdure(["run", "coder", "--", "true"]);
  await home.perdure(["run", "coder", "--", "true"], { cwd: second });

  const { projects } = await home.json<{ projects: ProjectSummary[] }>(["project", "ls"]);

  expect(projects.map(({ slug }) => slug)).toEqual(["api", expect.stringMatching(/^api-[0-9a-f]{4}$/)]);
  expect(await whoami({ PERDURE_NAME: "coder" })).toMatchObject({ address: "api/coder" });
  expect(await whoami({ PERDURE_NAME: "coder" }, [], second)).toMatchObject({ address: `${projects[1]?.slug}/coder` });
});

test("a project name of perdure.toml is used, and two that want the same one do not share it", async () => {
  const folders = ["one", "two"].map((name) => join(home.dir, name));
  for (const cwd of folders) {
    mkdirSync(cwd);
    writeFileSync(join(cwd, "perdure.toml"), 'project = "shop"\n');
    await home.perdure(["run", "coder", "--", "true"], { cwd });
  }
  const [first, second] = await Promise.all(folders.map((cwd) => whoami({ PERDURE_NAME: "x" }, [], cwd)));
  expect(first?.project).toBe("shop");
  expect(second?.project).toMatch(/^shop-[0-9a-f]{4}$/);
});

test("two git worktrees are one project, a subfolder is its repository, a submodule is its own", async () => {
  const worktree = join(home.dir, "feature");
  const inside = join(home.project, "src", "deep");
  home.git(["init", "-q"]);
  home.git(["commit", "-q", "--allow-empty", "-m", "first"]);
  home.git(["worktree", "add", "-q", worktree]);
  home.git(["-c", "protocol.file.allow=always", "submodule", "add", "-q", home.project, "parts"]);
  mkdirSync(inside, { recursive: true });
  await home.perdure(["run", "coder", "--", "true"]);

  const project = async (cwd: string): Promise<string> => (await whoami({ PERDURE_NAME: "x" }, [], cwd)).project;
  expect(await project(worktree)).toBe("api");
  expect(await project(inside)).toBe("api");
  expect(await project(join(home.project, "parts"))).toBe("parts");
  expect(await home.json(["show", "coder"], { cwd: worktree })).toMatchObject({ address: "api/coder" });
});

test("a bare repository and its worktrees are one project, named without .git", async () => {
  const bare = join(home.dir, "store.git");
  const tree = join(home.dir, "tree");
  home.git(["init", "-q"]);
  home.git(["commit", "-q", "--allow-empty", "-m", "first"]);
  home.git(["clone", "-q", "--bare", home.project, bare], home.dir);
  home.git(["worktree", "add", "-q", "-b", "other", tree], bare);
  for (const cwd of [bare, tree])
    expect(await whoami({ PERDURE_NAME: "x" }, [], cwd)).toMatchObject({ address: "store/x" });
});

test("inside a run, run and generation are those of ls", async () => {
  await home.perdure(["run", "coder", "--", "true"]);
  const script = `"${BIN}" ls --json; "${BIN}" whoami --json`;
  const { stdout } = await home.perdure(["run", "coder", "--", "sh", "-c", script]);
  const [listed, identity] = stdout
    .trimEnd()
    .split(/(?<=^\})\n/m)
    .map((text) => JSON.parse(text) as unknown);
  const { workers } = listed as { workers: { generation: number; run: { id: string } }[] };
  expect(identity).toMatchObject({
    address: "api/coder",
    source: "environment",
    run: workers[0]?.run.id,
    generation: workers[0]?.generation,
    actor: "worker",
  });
  expect(workers[0]?.generation).toBe(2);
});

test("another name given inside a run does not carry that run's id", async () => {
  const { stdout } = await home.perdure(["run", "coder", "--", BIN, "whoami", "--as", "other", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ address: "api/other", run: null, generation: null });
});

test("B: a worker that was renamed is not told the name of the one that has it now", async () => {
  const asks = ["sh", "-c", 'until [ -e go ]; do sleep 0.1; done; exec "$0" whoami --json > said', BIN];
  const { child } = await home.start("coder", asks);
  await home.perdure(["rename", "coder", "elder"]);
  await home.perdure(["retire", "coder"]);
  await home.start("coder", ["sleep", "600"]);
  writeFileSync(join(home.project, "go"), "");
  await once(child, "close");
  const said = JSON.parse(readFileSync(join(home.project, "said"), "utf8")) as Identity;
  expect(said).toMatchObject({ address: "api/elder", displaced: false });
});

test("B: a run that was taken over is told that the name is no longer its own", async () => {
  const script = `trap '"$0" whoami --json > said; exit 0' TERM; while :; do sleep 0.1; done`;
  const { child } = await home.start("coder", ["sh", "-c", script, BIN]);
  await home.perdure(["takeover", "coder"]);
  if (child.exitCode === null) await once(child, "close");
  const said = JSON.parse(readFileSync(join(home.project, "said"), "utf8")) as Identity;
  expect(said).toMatchObject({ address: "api/coder", displaced: true });
});

test("B: an agent below a vendor's background service is not the worker in whose run the service was started", async () => {
  const asks = `require("node:child_process").spawnSync(${JSON.stringify(BIN)}, ["whoami", "--json"], { stdio: "inherit" });`;
  writeFileSync(join(home.project, "daemon"), asks);
  const service = `exec -a claude "${process.execPath}" daemon run`;
  const { stdout } = await home.perdure(["run", "coder", "--", "bash", "-c", service]);
  const said = JSON.parse(stdout) as Identity;
  expect(said.address).not.toBe("api/coder");
  expect(said).toMatchObject({ supervisor: null, durable: false, actor: "nested" });
});

test("a person is told that they are the operator, and where their mail is", async () => {
  const { stdout } = await home.perdure(["whoami"]);
  expect(stdout).toMatch(
    /^api\/anon~\S+\n {2}you are the operator, and no worker: .* your mail is in perdure inbox\n$/,
  );
});
