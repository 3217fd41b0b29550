import { execFile, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { History } from "../../src/protocol/records/worker.ts";
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
  "src/vendors/programs.ts": (text, line) => text.replace(/(VENDOR_PROGRAMS[^[]*\[\] = \[\n)/, `$1${line}`),
};

/** Every block of the page that says whose text it is. */
function filesOnPage(): [path: string, text: string][] {
  const page = readFileSync(join(ROOT, "docs/adding-a-vendor.md"), "utf8");
  return [...page.matchAll(/^```\w+ (\S+)\n([^]*?)^```$/gm)].map(([, path = "", text = ""]) => [path, text]);
}

function perdure(args: string[], input = ""): Promise<Finished> {
  const child = spawn(join(tree, "bin/perdure.js"), args, { cwd: home.project, env: home.env, stdio: "pipe" });
  child.stdin.end(input);
  return finish(child);
}

test("the page has all the files of a vendor", () => {
  expect(filesOnPage().map(([path]) => path)).toEqual(
    expect.arrayContaining(["src/vendors/toy/index.ts", "src/vendors/toy/fixtures/facts.json", ...Object.keys(TABLES)]),
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
  const { sessions, runs } = JSON.parse((await perdure(["history", "w", "--json"])).stdout) as History;
  expect(sessions).toMatchObject([{ vendor: "toy", provenance: "assigned", proved: true }]);
  expect(runs.map(({ sessionId }) => sessionId)).toEqual([sessions[0]?.id, sessions[0]?.id]);
  expect((await perdure(["drill", "w"])).code).toBe(0);
  rmSync(sessions[0]?.transcript?.file ?? "");
  const back = await perdure(["run", "w"], "three\n");
  expect(back).toMatchObject({ code: 0, stdout: "one, two, three\n" });
  expect(back.stderr).toContain("put back from the copy");
  expect((await perdure(["run", "w", "--", "toy", "--go-on", "x"])).code).toBe(2);
});
