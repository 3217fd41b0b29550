import { chownSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { findProject } from "../../src/project/find.ts";
import { Home } from "../support/home.ts";

const STRANGER = 4242;

const isRoot = process.getuid?.() === 0;
if (!isRoot)
  process.stderr.write("the tests of other users' repositories are skipped: only root can give files away\n");

describe.skipIf(!isRoot)("a repository of another user above a folder", () => {
  let home: Home;
  let common: string;
  let mine: string;
  beforeEach(() => {
    home = new Home();
    common = join(home.dir, "common");
    mine = join(common, "mine");
    mkdirSync(mine, { recursive: true });
    vi.stubEnv("HOME", home.dir);
    vi.stubEnv("SUDO_UID", undefined);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await home.clear();
  });

  const git = (): string => join(common, ".git");

  function strangersRepository(): void {
    home.git(["init", "-q"], common);
    giveAway(git());
  }

  it("does not make the project, and whoever starts something is told", async () => {
    strangersRepository();
    const passedOver = { file: git(), uid: STRANGER };
    expect(findProject(mine)).toMatchObject({ kind: "folder", root: mine, passedOver });
    const { code, stderr } = await home.perdure(["run", "coder", "--", "true"], { cwd: mine });
    expect(code).toBe(0);
    expect(stderr).toContain(
      `${git()} belongs to another user (uid ${STRANGER}), so the project here is ${mine} alone`,
    );
    expect((await home.perdure(["doctor"], { cwd: mine })).stdout).toContain(`${git()} belongs to another user`);
  });

  it("does not hide the caller's own repository farther above", () => {
    strangersRepository();
    home.git(["init", "-q"], home.dir);
    expect(findProject(mine)).toMatchObject({ kind: "repository", root: home.dir, passedOver: { file: git() } });
  });

  it("does not make the project by a link, whosever that is", () => {
    const real = join(home.dir, "real");
    mkdirSync(real);
    home.git(["init", "-q"], real);
    symlinkSync(join(real, ".git"), git());
    giveAway(join(real, ".git"));
    expect(findProject(mine)).toMatchObject({ kind: "folder", root: mine });
  });

  it("does not make the project by its fleet file either", () => {
    const file = join(common, "perdure.toml");
    writeFileSync(file, "");
    expect(findProject(mine)).toMatchObject({ root: common });
    giveAway(file);
    expect(findProject(mine)).toMatchObject({ root: mine, passedOver: { file } });
  });

  it("makes the project of what is its owner's", () => {
    strangersRepository();
    giveAway(mine);
    expect(findProject(mine)).toMatchObject({ kind: "repository", root: common });
    expect(findProject(mine).passedOver).toBeUndefined();
  });

  it("makes the project if it is that of whoever called sudo", () => {
    strangersRepository();
    vi.stubEnv("SUDO_UID", String(STRANGER));
    expect(findProject(mine)).toMatchObject({ kind: "repository", root: common });
  });

  it.each([[(folder: string) => folder], [(folder: string) => `${join(folder, "..")}/*`], [() => "*"]])(
    "makes the project if git was told to trust it",
    (named) => {
      strangersRepository();
      writeFileSync(join(home.dir, ".gitconfig"), `[safe]\n\tdirectory = ${named(common)}\n`);
      expect(findProject(mine)).toMatchObject({ kind: "repository", root: common });
    },
  );

  it("does not make the project if git was told to trust another one", () => {
    strangersRepository();
    writeFileSync(join(home.dir, ".gitconfig"), `[safe]\n\tdirectory = *\n\tdirectory =\n\tdirectory = ${mine}\n`);
    expect(findProject(mine)).toMatchObject({ kind: "folder", root: mine });
  });
});

function giveAway(path: string): void {
  chownSync(path, STRANGER, STRANGER);
  for (const entry of readdirIfFolder(path)) giveAway(join(path, entry));
}

function readdirIfFolder(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // a file
  }
}
