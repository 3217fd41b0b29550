import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { WorkerSummary } from "../../../src/protocol/records/worker.ts";
import { makeRepository, moveProjectOf, untilRootsAreKnown, withSecret } from "../../support/moved-home.ts";
import { personaInstaller } from "../../support/persona-installer.ts";
import type { InstalledPersona } from "../../support/persona.ts";

// A folder comes to another project without having been moved, and the names of the one it belonged to would begin anew there.

const installPersona = personaInstaller();

function refusedWith(...parts: string[]): object {
  const told = new RegExp(parts.map((part) => part.replace(/[/.]/g, "\\$&")).join("[^]*"));
  return { code: 5, stderr: expect.stringMatching(told) as string };
}

function madeIn(persona: InstalledPersona, ...names: string[]): string {
  const folder = join(persona.home.dir, ...names);
  mkdirSync(folder, { recursive: true });
  return folder;
}

async function expectResumed(persona: InstalledPersona, name: string, cwd: string, session: string): Promise<void> {
  const { talk, banner } = await persona.resume(name, { cwd });
  expect(banner).toEqual({ session, turns: 1 });
  await talk.end();
}

test.each(["git init", "perdure.toml"])("A4: a folder that became part of another by a %s above it", async (how) => {
  const persona = installPersona("claude");
  const { home } = persona;
  const all = madeIn(persona, "all");
  const cwd = madeIn(persona, "all", "part");
  const id = await withSecret(persona, "coder", cwd);
  if (how === "git init") home.git(["init", "-q"], all);
  else writeFileSync(join(all, "perdure.toml"), '[workers.coder]\nvendor = "claude"\n');

  const refused = refusedWith("project part", `${cwd} belongs to ${all}`, "perdure project move part", "--fresh");
  expect(await home.perdure(["run", "coder", "--", "claude"], { cwd })).toMatchObject(refused);
  // From then on the name would be another worker's in the folder, too.
  expect(await home.perdure(["run", "coder", "--", "claude"], { cwd: all })).toMatchObject(refused);
  expect(await home.perdure(["send", "coder", "hi"], { cwd })).toMatchObject(refused);
  const told = expect.stringContaining("perdure project move part") as string;
  expect(await home.perdure(["ls"], { cwd })).toMatchObject({ code: 0, stderr: told });
  // Without a fleet file there is nothing to bring up.
  const up = how === "perdure.toml" ? { code: 5, stderr: told } : { code: 3 };
  expect(await home.perdure(["up", "--yes"], { cwd })).toMatchObject(up);

  expect(await home.perdure(["run", "helper", "--", "true"], { cwd: all })).toMatchObject({ code: 0 });
  expect(await home.perdure(["project", "move", "part"], { cwd })).toMatchObject({ code: 0 });
  await expectResumed(persona, "coder", cwd, id);
  const { workers } = await home.json<{ workers: WorkerSummary[] }>(["ls"], { cwd: all });
  expect(workers.map(({ name }) => name)).toEqual(["coder", "helper"]);
  expect(await home.json(["show", "coder"], { cwd: all })).toMatchObject({ cwd });
});

test("A4: --fresh begins anew in a folder that became part of another, and is remembered", async () => {
  const persona = installPersona("claude");
  const cwd = madeIn(persona, "all", "part");
  const id = await withSecret(persona, "coder", cwd);
  persona.home.git(["init", "-q"], join(persona.home.dir, "all"));
  const talk = persona.run("coder", ["--fresh", "--", "claude"], { cwd });
  await talk.answer();
  await talk.say("anew");
  await talk.end();
  const { talk: again, banner } = await persona.resume("coder", { cwd });
  expect(banner.session).not.toBe(id);
  await again.end();
});

test.each(["git init", "the removal of a perdure.toml above it"])(
  "A4: a folder of a project that became one of its own by %s",
  async (how) => {
    const persona = installPersona("claude");
    const { home } = persona;
    const all = madeIn(persona, "whole");
    const cwd = madeIn(persona, "whole", "part");
    writeFileSync(join(all, "perdure.toml"), "");
    const id = await withSecret(persona, "coder", cwd);
    if (how === "git init") home.git(["init", "-q"], cwd);
    else rmSync(join(all, "perdure.toml"));
    const refused = refusedWith("project whole", `${cwd} belonged`, "perdure run whole/coder", "--fresh");
    expect(await home.perdure(["run", "coder", "--", "claude"], { cwd })).toMatchObject(refused);
    await expectResumed(persona, "whole/coder", cwd, id);
    // A folder in which that worker never was may have one of its own.
    const other = madeIn(persona, "other");
    expect(await home.perdure(["run", "coder", "--", "true"], { cwd: other })).toMatchObject({ code: 0 });
  },
);

test("A4: a name that is in use in both is said by its address in the folder that became part of another", async () => {
  const persona = installPersona("claude");
  const { home } = persona;
  const whole = madeIn(persona, "whole");
  const cwd = madeIn(persona, "whole", "part");
  const theirs = await withSecret(persona, "coder", cwd);
  const ours = await withSecret(persona, "coder", whole);
  writeFileSync(join(whole, "perdure.toml"), "");
  const refused = refusedWith("both of project whole and of project part", "whole/coder", "part/coder");
  expect(await home.perdure(["run", "coder"], { cwd })).toMatchObject(refused);
  expect(await home.perdure(["run", "coder", "--", "claude"], { cwd })).toMatchObject(refused);
  await expectResumed(persona, "part/coder", cwd, theirs);
  await expectResumed(persona, "whole/coder", cwd, ours);
  await expectResumed(persona, "coder", whole, ours);
});

test("A4: a folder below a repository that is none any more", async () => {
  const persona = installPersona("claude");
  const { home } = persona;
  makeRepository(home);
  const id = await withSecret(persona);
  const cwd = join(home.project, "below");
  mkdirSync(cwd);
  rmSync(join(home.project, ".git"), { recursive: true });
  expect(await home.perdure(["run", "coder", "--", "claude"], { cwd })).toMatchObject(
    refusedWith("project api", `${cwd} belonged`, "perdure run api/coder", "--fresh"),
  );
  await expectResumed(persona, "api/coder", cwd, id);
});

test("A4: a linked worktree whose main repository was moved", async () => {
  const persona = installPersona("claude");
  const { home } = persona;
  makeRepository(home);
  const cwd = join(home.dir, "tree");
  home.git(["worktree", "add", "-q", cwd]);
  const id = await withSecret(persona);
  const main = moveProjectOf(home);
  const refused = refusedWith(`${cwd}/.git leads`, `git worktree repair ${cwd}, and perdure project move api`);
  expect(await home.perdure(["run", "coder", "--", "claude"], { cwd })).toMatchObject(refused);
  mkdirSync(join(cwd, "below"));
  expect(await home.perdure(["run", "coder", "--", "claude"], { cwd: join(cwd, "below") })).toMatchObject(refused);
  home.git(["worktree", "repair", cwd], main);
  expect(await home.perdure(["project", "move", "api"], { cwd: main })).toMatchObject({ code: 0 });
  await expectResumed(persona, "coder", cwd, id);
});

test("A4: a worktree whose .git leads nowhere, and its repository is there", async () => {
  const persona = installPersona("claude");
  const { home } = persona;
  makeRepository(home);
  const cwd = join(home.dir, "tree");
  home.git(["worktree", "add", "-q", cwd]);
  const id = await withSecret(persona, "coder", cwd);
  rmSync(join(home.project, ".git", "worktrees"), { recursive: true });
  expect(await home.perdure(["run", "coder", "--", "claude"], { cwd })).toMatchObject(
    refusedWith(`${cwd}/.git leads`, "perdure run api/coder", "--fresh"),
  );
  await expectResumed(persona, "api/coder", cwd, id);
});

test("A4: a repository whose git is put elsewhere, is lost there, and comes back, is the same project", async () => {
  const persona = installPersona("claude");
  const { home } = persona;
  makeRepository(home);
  const id = await withSecret(persona);
  const aside = join(home.dir, "aside.git");
  home.git(["init", "-q", "--separate-git-dir", aside]);
  await expectResumed(persona, "coder", home.project, id);
  renameSync(aside, `${aside}.lost`);
  await expectResumed(persona, "coder", home.project, id);
  rmSync(join(home.project, ".git"));
  home.git(["init", "-q"]);
  await expectResumed(persona, "coder", home.project, id);
  const { projects } = await home.json<{ projects: unknown[] }>(["project", "ls"]);
  expect(projects).toMatchObject([{ slug: "api", identity: join(home.project, ".git") }]);
});

test.each(["cloned from it", "cloned from where it was cloned from"])(
  "A4: a shallow clone of a repository that is gone, %s",
  async (how) => {
    const persona = installPersona("claude");
    const { home } = persona;
    makeRepository(home);
    home.git(["commit", "-q", "--allow-empty", "-m", "second"]);
    const origin = join(home.dir, "origin.git");
    if (how !== "cloned from it") {
      renameSync(home.project, origin);
      home.git(["clone", "-q", `file://${origin}`, home.project], home.dir);
    }
    await withSecret(persona);
    await untilRootsAreKnown(home);
    const cwd = join(home.dir, "shallow");
    const from = how === "cloned from it" ? home.project : origin;
    home.git(["clone", "-q", "--depth", "1", `file://${from}`, cwd], home.dir);
    rmSync(home.project, { recursive: true });
    const refused = refusedWith("folder is gone", "perdure project move api", "--fresh");
    expect(await home.perdure(["run", "coder", "--", "claude"], { cwd })).toMatchObject(refused);
    expect(await home.perdure(["project", "move", "api"], { cwd })).toMatchObject({ code: 0 });
  },
);

test.each(["before its git was made", "and then lost its git"])("A4: a folder that was renamed %s", async (how) => {
  const persona = installPersona("claude");
  const { home } = persona;
  if (how === "and then lost its git") makeRepository(home);
  const id = await withSecret(persona);
  const cwd = moveProjectOf(home);
  if (how === "and then lost its git") rmSync(join(cwd, ".git"), { recursive: true });
  else home.git(["init", "-q"], cwd);
  const refused = refusedWith("folder is gone", "perdure project move api", "--fresh");
  expect(await home.perdure(["run", "coder", "--", "claude"], { cwd })).toMatchObject(refused);
  expect(await home.perdure(["project", "move", "api"], { cwd })).toMatchObject({ code: 0 });
  await expectResumed(persona, "coder", cwd, id);
});
