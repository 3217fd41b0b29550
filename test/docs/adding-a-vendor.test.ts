import { execFile, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import type { History } from "../../src/protocol/records/run.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { WorkerDetail, WorkerSummary } from "../../src/protocol/records/worker.ts";
import { eventually } from "../support/check.ts";
import { finish, Home, type Finished } from "../support/home.ts";

// The guide, done: its files are taken from the page, perdure is built with them, and the toy is resumed.

const ROOT = resolve(import.meta.dirname, "../..");
const tree = mkdtempSync(join(tmpdir(), "perdure-guide-"));
const run = promisify(execFile);
const home = new Home();

/** The files of perdure that are enough to build it and ask its adapters. */
const PARTS =
  `src bin scripts package.json tsconfig.json tsconfig.types.json vitest.config.ts test/vendors test/vendors-live
  test/support test/scripted test/terminal`.split(/\s+/);

beforeAll(async () => {
  for (const path of PARTS) {
    cpSync(join(ROOT, path), join(tree, path), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(tree, "node_modules"));
  for (const [path, text] of filesOnPage()) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(
      join(tree, path),
      path in TABLES ? (TABLES[path]?.(readFileSync(join(tree, path), "utf8"), text) ?? "") : text,
    );
  }
  await run(process.execPath, ["scripts/build.js"], { cwd: tree });
  const bin = join(home.dir, "bin");
  mkdirSync(bin);
  symlinkSync(join(ROOT, "test/docs/toy.ts"), join(bin, "toy"));
  home.env.PATH = `${bin}:${dirname(process.execPath)}:${home.env.PATH}`;
}, 120_000);
afterAll(async () => {
  await home.clear();
  rmSync(tree, { recursive: true });
});

/** The place of a line of the page in a file that is there. */
const TABLES: Readonly<Record<string, (text: string, line: string) => string>> = {
  "src/vendors/index.ts": (text, line) => `${line}${text.replace(/(const ADAPTERS.*?= \[)/, "$1toy, ")}`,
  "src/vendors/programs.ts": (text, line) => `${line}${text.replace(/(VENDOR_PROGRAMS.*?= \[)/, "$1toyProgram, ")}`,
};

/** Every block of the page that says whose text it is. */
function filesOnPage(): [path: string, text: string][] {
  const page = readFileSync(join(ROOT, "docs/adding-a-vendor.md"), "utf8");
  return [...page.matchAll(/^```\w+ (\S+)\n([^]*?)^```$/gm)].map(([, path = "", text = ""]) => [path, text]);
}

function perdure(args: string[], input = "", variables: Record<string, string> = {}): Promise<Finished> {
  const env = { ...home.env, ...variables };
  const child = spawn(join(tree, "bin/perdure.js"), args, { cwd: home.project, env, stdio: "pipe" });
  child.stdin.end(input);
  return finish(child);
}

test("the page has all the files of a vendor", () => {
  expect(filesOnPage().map(([path]) => path)).toEqual(
    expect.arrayContaining([
      "src/vendors/toy/index.ts",
      "src/vendors/toy/program.ts",
      "src/vendors/toy/fixtures/facts.json",
      ...Object.keys(TABLES),
    ]),
  );
});

test("its types are right, and it reads its own fixtures", async () => {
  writeFileSync(join(tree, "tsconfig.guide.json"), '{ "extends": "./tsconfig.json", "include": ["src"] }');
  await run(join(ROOT, "node_modules/.bin/tsc"), ["-p", "tsconfig.guide.json"], { cwd: tree });
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const { stdout } = await run(process.execPath, [vitest, "run", "test/vendors", "-t", "toy"], {
    cwd: tree,
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined },
  });
  expect(stdout).toMatch(/Tests .* [2-9]\d passed/);
});

test("a worker of it is resumed, exactly and proved, and its lost conversation comes back", async () => {
  expect((await perdure(["run", "w", "--", "toy"], "one\n")).stdout).toBe("one\n");
  expect((await perdure(["run", "w"], "two\n")).stdout).toBe("one, two\n");
  const history = async (): Promise<History> =>
    JSON.parse((await perdure(["history", "w", "--json"])).stdout) as History;
  // The transcript is the only sign, and it is looked at when the run has ended.
  await eventually("the proof", async () => (await history()).sessions[0]?.proved === true);
  const { sessions, runs } = await history();
  expect(sessions).toMatchObject([{ vendor: "toy", provenance: "assigned", proved: true }]);
  expect(runs.map(({ sessionId }) => sessionId)).toEqual([sessions[0]?.id, sessions[0]?.id]);
  expect((await perdure(["drill", "w"])).code).toBe(0);
  rmSync(sessions[0]?.transcript?.file ?? "");
  const back = await perdure(["run", "w"], "three\n");
  expect(back).toMatchObject({ code: 0, stdout: "one, two, three\n" });
  expect(back.stderr).toContain("restored from perdure's copy");
  expect((await perdure(["run", "w", "--", "toy", "--go-on", "x"])).code).toBe(2);
});

test("it is named in the help, without anybody having written it there", async () => {
  expect((await perdure(["run", "--help"])).stdout).toMatch(/An agent \(.*\btoy\b/);
});

const SET = { TOY_VOICE: "low", TOY_TALK: "of another process" };

test("what it needs of the environment is recorded by run, and what belongs to one process is not", async () => {
  expect(await perdure(["run", "alone", "--", "toy"], "hello\n", SET)).toMatchObject({ code: 0 });
  const { environment } = JSON.parse((await perdure(["show", "alone", "--json"])).stdout) as WorkerDetail;
  expect(environment).toContain("TOY_VOICE");
  expect(environment).not.toContain("TOY_TALK");
});

test("recorded by up, it reaches a later start, which has nothing else to take it from", async () => {
  writeFileSync(join(home.project, "perdure.toml"), '[workers.kept]\nvendor = "toy"\n');
  expect(await perdure(["up", "--yes"], "", SET)).toMatchObject({ code: 0 });
  const kept = async (): Promise<WorkerSummary | undefined> => {
    const { workers } = JSON.parse((await perdure(["ls", "--json"])).stdout) as { workers: WorkerSummary[] };
    return workers.find(({ name }) => name === "kept");
  };
  const first = (await kept())?.run?.id;
  expect(await perdure(["restart", "kept"])).toMatchObject({ code: 0 });
  await eventually("the restarted toy to have what was recorded", async () => {
    const worker = await kept();
    return worker?.run?.id !== first && voices(worker).includes(SET.TOY_VOICE);
  });
  expect(await perdure(["down"])).toMatchObject({ code: 0 });
});

/** Lists what the live processes of a worker's run report about themselves. */
function voices(worker: WorkerSummary | undefined): unknown[] {
  const live = join(home.dir, ".toy", "live");
  const pids = worker?.run ? home.processesOf(worker.run.id).map(({ pid }) => pid) : [];
  return pids
    .map((pid) => join(live, `${pid}.json`))
    .filter((file) => existsSync(file))
    .map((file) => (JSON.parse(readFileSync(file, "utf8")) as { voice?: unknown }).voice);
}
