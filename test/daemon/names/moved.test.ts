import { chmodSync, cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { connect } from "../../../src/index.ts";
import type { WorkerSummary } from "../../../src/protocol/records/worker.ts";
import { personaInstaller } from "../../support/persona-installer.ts";
import {
  forgetFolders,
  makeRepository,
  moveProjectOf,
  untilRootsAreKnown,
  withSecret,
} from "../../support/moved-home.ts";

const installPersona = personaInstaller();

const REFUSED = { code: 5, stderr: expect.stringContaining("perdure project move api") as string };

describe("A4: a moved repository", () => {
  test("A4: a moved repository is refused where a name would begin anew, with both ways out", async () => {
    const persona = installPersona("claude");
    const { home } = persona;
    makeRepository(home);
    const id = await withSecret(persona);
    const cwd = moveProjectOf(home);

    const refused = await home.perdure(["run", "coder", "--", "claude"], { cwd });
    expect(refused).toMatchObject(REFUSED);
    expect(refused.stderr).toContain("perdure run coder --fresh");
    expect(refused.stderr).toContain(home.project);
    expect(await home.perdure(["run", "coder"], { cwd })).toMatchObject(REFUSED);
    expect(await home.perdure(["send", "coder", "hi"], { cwd })).toMatchObject(REFUSED);
    expect(await home.perdure(["ask", "coder", "hi"], { cwd })).toMatchObject(REFUSED);
    const adopt = ["adopt", "coder", "--vendor", "claude", "--conversation", id];
    expect(await home.perdure(adopt, { cwd })).toMatchObject(REFUSED);
    // Nothing of all that made a project of the folder.
    expect(await home.json(["project"], { cwd })).toMatchObject({ registered: false });

    const noted = expect.stringContaining("perdure project move api") as string;
    expect(await home.perdure(["ls"], { cwd })).toMatchObject({ code: 0, stderr: noted });
    expect(await home.perdure([], { cwd })).toMatchObject({ code: 0, stdout: noted });
    for (const verb of ["show", "logs", "attach"]) {
      const { stderr } = await home.perdure([verb, "coder"], { cwd });
      expect(stderr).toContain(`"coder" is that of api/coder, whose folder ${home.project} is gone.`);
      expect(stderr).toContain("→ perdure project move api ");
    }
    // Another name is nobody's.
    expect(await home.perdure(["run", "helper", "--", "true"], { cwd })).toMatchObject({ code: 0 });

    expect(await home.perdure(["project", "move", "api"], { cwd })).toMatchObject({ code: 0 });
    expect(await home.perdure(["drill", "coder"], { cwd })).toMatchObject({ code: 0 });
    const { talk, banner } = await persona.resume("coder", { cwd });
    expect(banner).toEqual({ session: id, turns: 1 });
    await talk.end();
    const { workers } = await home.json<{ workers: WorkerSummary[] }>(["ls"], { cwd });
    expect(workers.map(({ address }) => address)).toEqual(["api/coder", "api/helper"]);
  });

  test("A4: --fresh begins anew in a moved repository, and is remembered", async () => {
    const persona = installPersona("claude");
    const { home } = persona;
    makeRepository(home);
    const id = await withSecret(persona);
    const cwd = moveProjectOf(home);

    const talk = persona.run("coder", ["--fresh", "--", "claude"], { cwd });
    await talk.answer();
    await talk.say("anew");
    await talk.end();
    const { talk: again, banner } = await persona.resume("coder", { cwd });
    expect(banner.session).not.toBe(id);
    await again.end();
    expect((await home.perdure(["ls"], { cwd })).stderr).not.toContain("project move");

    // The old one is not lost: the names that are in both are said, and what to do.
    const refused = await home.perdure(["project", "move", "api"], { cwd });
    expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining("perdure rename coder") as string });
    expect(refused.stderr).toContain("perdure retire coder");
    expect(await home.perdure(["rename", "coder", "second"], { cwd })).toMatchObject({ code: 0 });
    expect(await home.perdure(["project", "move", "api"], { cwd })).toMatchObject({ code: 0 });
    for (const [name, session] of [
      ["coder", id],
      ["second", banner.session],
    ] as const) {
      const { talk: back, banner: shown } = await persona.resume(name, { cwd });
      expect(shown.session).toBe(session);
      await back.end();
    }
  });

  test("A4: a folder without git is known again after a move, by itself", async () => {
    const persona = installPersona("claude");
    await withSecret(persona);
    const cwd = moveProjectOf(persona.home);
    expect(await persona.home.perdure(["run", "coder", "--", "claude"], { cwd })).toMatchObject(REFUSED);
  });

  test("A4: a moved repository is known when another one has taken its place", async () => {
    const persona = installPersona("claude");
    const { home } = persona;
    makeRepository(home);
    const id = await withSecret(persona);
    const cwd = moveProjectOf(home);
    mkdirSync(home.project);
    home.git(["init", "-q"]);
    expect(await home.perdure(["run", "coder", "--", "claude"], { cwd })).toMatchObject(REFUSED);
    expect(await home.perdure(["project", "move", "api"], { cwd })).toMatchObject({ code: 0 });
    const { talk, banner } = await persona.resume("coder", { cwd });
    expect(banner.session).toBe(id);
    await talk.end();
  });

  test("A4: a copy is known by its first commits when the original is gone, and is another project while it is there", async () => {
    const persona = installPersona("claude");
    const { home } = persona;
    makeRepository(home);
    await withSecret(persona);
    await untilRootsAreKnown(home);
    const cwd = join(home.dir, "copy");
    cpSync(home.project, cwd, { recursive: true });

    const other = await persona.begin("coder", [], { cwd });
    await other.end();
    await home.perdure(["retire", "coder"], { cwd });

    rmSync(home.project, { recursive: true });
    expect(await home.perdure(["run", "coder", "--", "claude"], { cwd })).toMatchObject(REFUSED);
  });

  test("A4: another repository is not taken for one that is gone", async () => {
    const persona = installPersona("claude");
    const { home } = persona;
    makeRepository(home);
    await withSecret(persona);
    await untilRootsAreKnown(home);
    rmSync(home.project, { recursive: true });
    // The inode of the deleted one is free now, and some file systems give it to the next.
    const cwd = join(home.dir, "other");
    mkdirSync(cwd);
    home.git(["init", "-q"], cwd);
    home.git(["commit", "-q", "--allow-empty", "-m", "another first"], cwd);
    const talk = await persona.begin("coder", [], { cwd });
    expect(await talk.end()).toMatchObject({ code: 0 });
  });

  test("A4: two projects that are gone are both named", async () => {
    const persona = installPersona("claude");
    const { home } = persona;
    makeRepository(home);
    const second = join(home.dir, "second");
    cpSync(home.project, second, { recursive: true });
    await withSecret(persona);
    await untilRootsAreKnown(home);
    await withSecret(persona, "coder", second);
    const cwd = join(home.dir, "third");
    renameSync(second, cwd);
    rmSync(home.project, { recursive: true });
    const refused = await home.perdure(["run", "coder", "--", "claude"], { cwd });
    expect(refused).toMatchObject(REFUSED);
    expect(refused.stderr).toContain("perdure project move second");
  });

  test("A4: a project from before folders were recorded is known by its slug while its transcripts are there", async () => {
    const persona = installPersona("claude");
    const { home } = persona;
    await withSecret(persona);
    await forgetFolders(home);
    mkdirSync(join(home.dir, "elsewhere"));
    const cwd = moveProjectOf(home, "elsewhere/api");
    expect(await home.perdure(["run", "coder", "--", "claude"], { cwd })).toMatchObject(REFUSED);
    rmSync(join(home.dir, ".claude"), { recursive: true });
    const talk = await persona.begin("coder", [], { cwd });
    await talk.end();
  });

  test("A4: a plain program has nothing to lose, and starts", async () => {
    const { home } = installPersona("claude");
    makeRepository(home);
    expect(await home.perdure(["run", "build", "--", "true"])).toMatchObject({ code: 0 });
    const cwd = moveProjectOf(home);
    expect(await home.perdure(["run", "build", "--", "true"], { cwd })).toMatchObject({ code: 0 });
  });

  test("A4: mail that waits for a worker is something to lose", async () => {
    const { home } = installPersona("claude");
    await home.perdure(["run", "build", "--", "true"]);
    await home.perdure(["send", "build", "for later"]);
    const cwd = moveProjectOf(home);
    expect(await home.perdure(["run", "build", "--", "true"], { cwd })).toMatchObject(REFUSED);
    expect(await home.perdure(["project", "move", "api"], { cwd })).toMatchObject({ code: 0 });
    expect(await home.perdure(["inbox", "build"], { cwd })).toMatchObject({
      stdout: expect.stringContaining("for later") as string,
    });
  });

  test("A4: a library's claim and a branch are refused in a moved repository, too", async () => {
    const persona = installPersona("claude");
    const { home } = persona;
    makeRepository(home);
    await withSecret(persona);
    await withSecret(persona, "other");
    const cwd = moveProjectOf(home);
    await using perdure = await connect({ cwd, env: home.env });
    await expect(perdure.claim("coder")).rejects.toMatchObject({
      code: "refused",
      hint: expect.stringContaining('claim("coder", { fresh: true })') as string,
    });
    const talk = persona.run("other", ["--fresh", "--", "claude"], { cwd });
    await talk.answer();
    await talk.say("anew");
    await talk.end();
    expect(await home.perdure(["fork", "other", "coder"], { cwd })).toMatchObject(REFUSED);
  });

  test("A4: a library's claim and start begin anew in a moved repository when they say so", async () => {
    const persona = installPersona("claude");
    const { home } = persona;
    makeRepository(home);
    await withSecret(persona);
    await withSecret(persona, "other");
    const cwd = moveProjectOf(home);
    await using perdure = await connect({ cwd, env: home.env });
    const lease = await perdure.claim("coder", { fresh: true });
    expect(lease.generation).toBe(1);
    await lease.release();
    // It is remembered.
    await using again = await perdure.claim("coder");
    expect(again.generation).toBe(2);
    await expect(perdure.start("other", ["true"])).rejects.toMatchObject({ code: "refused" });
    const { run } = await perdure.start("other", ["true"], { fresh: true });
    expect(await perdure.ended("other", run)).toMatchObject({ exit: 0 });
  });

  test("A4: looking at a repository runs nothing of it", async () => {
    const persona = installPersona("claude");
    const { home } = persona;
    makeRepository(home);
    const ran = join(home.dir, "ran");
    const script = join(home.dir, "script");
    writeFileSync(script, `#!/bin/sh\ntouch '${ran}'\n`);
    chmodSync(script, 0o755);
    for (const key of ["core.fsmonitor", "core.sshCommand", "core.pager", "alias.cat-file"]) {
      home.git(["config", key, key.startsWith("alias") ? `!${script}` : script]);
    }
    mkdirSync(join(home.project, ".git", "hooks"), { recursive: true });
    for (const hook of ["post-index-change", "reference-transaction", "post-checkout"]) {
      cpSync(script, join(home.project, ".git", "hooks", hook));
    }
    rmSync(ran, { force: true });
    await withSecret(persona);
    await untilRootsAreKnown(home);
    const cwd = join(home.dir, "copy");
    cpSync(home.project, cwd, { recursive: true });
    rmSync(home.project, { recursive: true });
    expect(await home.perdure(["run", "coder", "--", "claude"], { cwd })).toMatchObject(REFUSED);
    expect(existsSync(ran)).toBe(false);
  });
});

describe("A4: project move into a folder that has become a project", () => {
  test("A4: workers that were never used make way, others stay", async () => {
    const persona = installPersona("claude");
    const { home } = persona;
    makeRepository(home);
    const id = await withSecret(persona);
    const cwd = moveProjectOf(home);
    await home.perdure(["run", "coder", "--fresh", "--", "true"], { cwd });
    await home.perdure(["run", "helper", "--", "true"], { cwd });
    await home.perdure(["send", "helper", "still here"], { cwd });

    expect(await home.json(["project", "move", "api"], { cwd })).toMatchObject({ slug: "api", workers: 2 });
    const { talk, banner } = await persona.resume("coder", { cwd });
    expect(banner.session).toBe(id);
    await talk.end();
    expect(await home.perdure(["inbox", "helper"], { cwd })).toMatchObject({
      stdout: expect.stringContaining("still here") as string,
    });
    expect(await home.perdure(["project", "ls"], { cwd })).toMatchObject({
      stdout: expect.not.stringContaining("moved ") as string,
    });
  });

  test("A4: a worker that runs there is not taken along", async () => {
    const persona = installPersona("claude");
    const { home } = persona;
    makeRepository(home);
    await withSecret(persona);
    const cwd = moveProjectOf(home);
    const talk = await persona.begin("helper", [], { cwd });
    expect(await home.perdure(["project", "move", "api"], { cwd })).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("perdure stop helper") as string,
    });
    await talk.end();
    expect(await home.perdure(["project", "move", "api"], { cwd })).toMatchObject({ code: 0 });
  });

  test("A4: a folder that becomes a repository, or is none any more, is the same project", async () => {
    const persona = installPersona("claude");
    const { home } = persona;
    const id = await withSecret(persona);
    makeRepository(home);
    expect(await home.json(["project"])).toMatchObject({ slug: "api", registered: true });
    expect(await home.perdure(["send", "coder", "hi"])).toMatchObject({ code: 0 });
    const { talk, banner } = await persona.resume("coder");
    expect(banner).toEqual({ session: id, turns: 1 });
    await talk.end();
    rmSync(join(home.project, ".git"), { recursive: true });
    const { workers } = await home.json<{ workers: WorkerSummary[] }>(["ls"]);
    expect(workers.map(({ address }) => address)).toEqual(["api/coder"]);
    const again = await persona.resume("coder");
    expect(again.banner.session).toBe(id);
    await again.talk.end();
    expect((await home.json<{ projects: unknown[] }>(["project", "ls"])).projects).toHaveLength(1);
  });
});
