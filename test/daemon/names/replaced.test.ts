import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeRepository, untilRootsAreKnown, withSecret } from "../../support/moved-home.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

const REFUSED = { code: 5, stderr: expect.stringContaining("perdure project move api") as string };

describe("A4: another repository at the path of a project", () => {
  test("is refused there whatever the name, and the project is found again where it was moved", async () => {
    const persona = installPersona("claude");
    const { home } = persona;
    makeRepository(home);
    const id = await withSecret(persona);
    await untilRootsAreKnown(home);
    const moved = join(home.dir, "moved");
    renameSync(home.project, moved);
    mkdirSync(home.project);
    expect(await home.perdure(["run", "coder"])).toMatchObject(REFUSED);
    home.git(["init", "-q"]);
    home.git(["commit", "-q", "--allow-empty", "-m", "of another one"]);

    for (const words of [["coder"], ["coder", "--", "claude"], ["new", "--", "true"], ["coder", "--fresh"]])
      expect(await home.perdure(["run", ...words])).toMatchObject(REFUSED);
    expect(await home.perdure(["drill"])).toMatchObject({ code: 5, stdout: REFUSED.stderr });
    expect(await home.perdure(["run", "coder", "--", "claude"], { cwd: moved })).toMatchObject(REFUSED);

    expect(await home.perdure(["project", "move", "api"], { cwd: moved })).toMatchObject({ code: 0 });
    const { talk, banner } = await persona.resume("coder", { cwd: moved });
    expect(banner).toEqual({ session: id, turns: 1 });
    await talk.end();
    expect(await home.perdure(["run", "new", "--", "true"])).toMatchObject({ code: 0 });
  });

  test("can be the project from now on, and a new clone is so without a word", async () => {
    const persona = installPersona("claude");
    const { home } = persona;
    makeRepository(home);
    const id = await withSecret(persona);
    await untilRootsAreKnown(home);
    const kept = join(home.dir, "kept");
    renameSync(home.project, kept);
    home.git(["clone", "-q", kept, home.project], home.dir);
    const cloned = await persona.resume("coder");
    expect(cloned.banner).toEqual({ session: id, turns: 1 });
    await cloned.talk.end();
    await untilRootsAreKnown(home);

    rmSync(home.project, { recursive: true });
    mkdirSync(home.project);
    home.git(["init", "-q"]);
    home.git(["commit", "-q", "--allow-empty", "-m", "of another one"]);
    expect(await home.perdure(["run", "coder"])).toMatchObject(REFUSED);
    expect(await home.perdure(["project", "move", "api"])).toMatchObject({ code: 0 });
    const { talk, banner } = await persona.resume("coder");
    expect(banner).toEqual({ session: id, turns: 1 });
    await talk.end();
  });
});
