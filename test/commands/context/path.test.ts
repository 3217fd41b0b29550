import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { anchorFile, archiveName } from "../../../src/project/context-file.ts";
import { Home } from "../../support/home.ts";

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.clear());

/** The ids a spawner might set, and the seed's file for those it leaves unchanged. */
const IDS: [id: string | undefined, seedPath: string | null][] = [
  [undefined, ".ai/session-context.org"],
  ["", ".ai/session-context.org"],
  ["codex", ".ai/session-context.d/codex.org"],
  ["velox.rulesets.claude.1718400000", ".ai/session-context.d/velox.rulesets.claude.1718400000.org"],
  ["a_b", ".ai/session-context.d/a_b.org"],
  ["a/b", null],
  ["A_B", null],
  ["../x", null],
  [".", null],
  ["ä", null],
  ["\n", null],
  ["x".repeat(300), null],
];

async function pathOf(id: string | undefined): Promise<string> {
  const env = id === undefined ? home.env : { ...home.env, AI_AGENT_ID: id };
  const { stdout, code } = await home.perdure(["context", "path", "--ext", "org"], { env });
  expect(code).toBe(0);
  return stdout.trimEnd();
}

describe("context path", () => {
  it("gives the seed's paths for safe ids and distinct files inside the folder for all", async () => {
    const paths = await Promise.all(IDS.map(([id]) => pathOf(id)));
    const safe = IDS.flatMap(([, seedPath], index) => (seedPath ? [[paths[index], seedPath]] : []));
    for (const [path, seedPath] of safe) expect(path).toBe(seedPath);

    const distinct = new Set(paths.slice(1).map((path) => path.toLowerCase()));
    expect(distinct.size).toBe(IDS.length - 1);
    for (const path of paths.slice(2)) {
      expect(dirname(resolve(home.project, path))).toBe(join(home.project, ".ai/session-context.d"));
      expect(Buffer.byteLength(basename(path))).toBeLessThanOrEqual(255);
    }
  });

  it("creates nothing and starts no daemon", async () => {
    await pathOf("codex");
    expect(existsSync(join(home.project, ".ai"))).toBe(false);
    expect(existsSync(home.state)).toBe(false);
  });

  it("answers the same a thousand times", () => {
    const settings = { dir: ".ai", ext: "org" };
    const answers = new Set<string>();
    for (let round = 0; round < 1000; round++) answers.add(IDS.map(([id]) => anchorFile("/p", settings, id)).join());
    expect(answers.size).toBe(1);
  });

  it("is relative to where the caller stands, in whichever working tree that is", async () => {
    home.git(["init", "-q"]);
    home.git(["commit", "-q", "--allow-empty", "-m", "x"]);
    home.git(["worktree", "add", "-q", "../tree"]);
    const below = join(home.project, "src", "deep");
    mkdirSync(below, { recursive: true });
    expect((await home.perdure(["context", "path"], { cwd: below })).stdout).toBe("../../.ai/session-context.md\n");
    const absolute = await home.perdure(["context", "path", "--absolute"], { cwd: join(home.dir, "tree") });
    expect(absolute.stdout).toBe(`${realpathSync(home.dir)}/tree/.ai/session-context.md\n`);
  });

  it("takes folder and extension from the flags, the project's file, the user's file, in that order", async () => {
    mkdirSync(join(home.dir, ".config/perdure"), { recursive: true });
    writeFileSync(join(home.dir, ".config/perdure/config.toml"), '[context]\ndir = "notes"\next = "txt"\n');
    expect((await home.perdure(["context", "path"])).stdout).toBe("notes/session-context.txt\n");
    writeFileSync(join(home.project, "perdure.toml"), '[context]\next = "org"\n');
    expect((await home.perdure(["context", "path"])).stdout).toBe("notes/session-context.org\n");
    expect((await home.perdure(["context", "path", "--dir", "d"])).stdout).toBe("d/session-context.org\n");
  });

  it.each(["../out", "/etc", "a/../../b", ""])("refuses a folder outside the project: %j", async (dir) => {
    const { code, stderr } = await home.perdure(["context", "path", "--dir", dir]);
    expect(code).toBe(2);
    expect(stderr).toContain("not inside the project");
  });
});

describe("archive names", () => {
  it("carry date, id and a slug, and fit a file name", () => {
    const at = new Date(2026, 5, 4, 3, 2);
    expect(archiveName(at, undefined, "Parser: done!")).toBe("2026-06-04-03-02-parser-done");
    expect(archiveName(at, "codex", "ä ö")).toBe("2026-06-04-03-02-codex-a-o");
    expect(archiveName(at, undefined, "???")).toBe("2026-06-04-03-02-session");
    expect(Buffer.byteLength(archiveName(at, "x".repeat(300), "y".repeat(300)))).toBeLessThanOrEqual(240);
  });
});
