import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findProject } from "../../src/project/find.ts";
import { chooseSlug } from "../../src/project/slug.ts";
import { Home } from "../support/home.ts";

let home: Home;
let repository: string;
beforeEach(() => {
  home = new Home();
  repository = home.project;
});
afterEach(() => home.clear());

function makeRepository(): void {
  home.git(["init", "-q"]);
  home.git(["commit", "-q", "--allow-empty", "-m", "first"]);
}

test("a folder without git is a project of its own, by its real path", () => {
  symlinkSync(repository, join(home.dir, "link"));
  const found = { kind: "folder", identity: repository, root: repository, here: repository, base: "api" };
  expect(findProject(repository)).toEqual(found);
  expect(findProject(join(home.dir, "link"))).toEqual(found);
});

test("without git the nearest perdure.toml above makes the project", () => {
  const deep = join(repository, "a", "b");
  mkdirSync(deep, { recursive: true });
  writeFileSync(join(repository, "perdure.toml"), "");
  expect(findProject(deep)).toMatchObject({ kind: "folder", root: repository });
});

test("anywhere inside a repository is that repository", () => {
  makeRepository();
  mkdirSync(join(repository, "a", "b"), { recursive: true });
  const found = {
    kind: "repository",
    identity: join(repository, ".git"),
    root: repository,
    here: repository,
    base: "api",
  };
  for (const cwd of ["", "a/b", ".git", ".git/refs"])
    expect(findProject(join(repository, cwd))).toMatchObject({ ...found, here: expect.any(String) as string });
  expect(findProject(join(repository, "a", "b"))).toEqual(found);
});

test("a worktree has its repository's identity and a place of its own", () => {
  makeRepository();
  const tree = join(home.dir, "tree");
  home.git(["worktree", "add", "-q", tree]);
  expect(findProject(tree)).toEqual({ ...findProject(repository), here: tree });
});

test("a submodule is a project of its own, rooted in its working tree", () => {
  makeRepository();
  home.git(["-c", "protocol.file.allow=always", "submodule", "add", "-q", repository, "parts"]);
  const parts = join(repository, "parts");
  const found = findProject(parts);
  expect(found.identity).not.toBe(findProject(repository).identity);
  expect(found).toMatchObject({ base: "parts", here: parts, root: parts });
});

test("a bare repository is its own root", () => {
  const bare = join(home.dir, "shop.git");
  home.git(["init", "-q", "--bare", bare], home.dir);
  expect(findProject(bare)).toEqual({ kind: "repository", identity: bare, root: bare, here: bare, base: "shop" });
});

test.each(["", "gitdir: /nowhere/at/all\n", "nonsense"])("a .git file that says %j makes no repository", (text) => {
  writeFileSync(join(repository, ".git"), text);
  expect(findProject(repository)).toMatchObject({ kind: "folder", root: repository });
});

test("an empty .git folder makes no repository", () => {
  mkdirSync(join(repository, ".git"));
  expect(findProject(repository)).toMatchObject({ kind: "folder" });
});

test("a folder whose name is no name gets a slug", () => {
  for (const [name, base] of [
    ["Mein Projekt", "Mein-Projekt"],
    ["con", "con-1"],
    ["...", "worker"],
  ] as const) {
    mkdirSync(join(home.dir, name));
    expect(findProject(join(home.dir, name)).base).toBe(base);
  }
});

test("a taken slug gets four digits of the identity, then more, and stays legal at any length", () => {
  const taken = new Set(["api"]);
  const isTaken = (slug: string): boolean => taken.has(slug);
  expect(chooseSlug("web", "/web", isTaken)).toBe("web");
  const second = chooseSlug("API", "/b/api", isTaken);
  expect(second).toMatch(/^API-[0-9a-f]{4}$/);
  expect(chooseSlug("API", "/b/api", isTaken)).toBe(second);
  taken.add(second.toLowerCase());
  expect(chooseSlug("API", "/b/api", isTaken)).toMatch(/^API-[0-9a-f]{8}$/);
  const long = "n".repeat(64);
  taken.add(long);
  expect(chooseSlug(long, "/n", isTaken)).toMatch(/^n{59}-[0-9a-f]{4}$/);
});
