import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { VENDORS } from "../../support/persona-facts.ts";
import type { InstalledPersona } from "../../support/persona.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

/** A worker with a secret, stopped. */
async function withSecret(persona: InstalledPersona, cwd = persona.home.project): Promise<string> {
  const talk = await persona.begin("coder", [], { cwd });
  await talk.say("the secret");
  const { id } = (await persona.home.json<{ session: { id: string } }>(["show", "coder"], { cwd })).session;
  await talk.end();
  return id;
}

describe.each(VENDORS)("%s", (vendor) => {
  it("comes back where it began, wherever it is called from", async () => {
    const persona = installPersona(vendor);
    const { project, dir } = persona.home;
    persona.home.git(["init", "-q"]);
    const id = await withSecret(persona);
    for (const [cwd, name] of [
      [join(project, "deep", "down"), "coder"],
      [dir, "api/coder"],
    ] as const) {
      mkdirSync(cwd, { recursive: true });
      const { talk, banner } = await persona.resume(name, { cwd });
      expect(banner.session).toBe(id);
      expect(await talk.say("/cd .")).toContain(`now in ${project}`);
      expect(await talk.say("more")).toContain("first=the secret");
      await talk.end();
    }
  });

  it("comes back where it began after it moved by itself", async () => {
    const persona = installPersona(vendor);
    const { project, dir } = persona.home;
    const talk = await persona.begin("coder");
    await talk.say("the secret");
    await talk.say(`/cd ${dir}`);
    await talk.say("from elsewhere");
    const { session } = await persona.untilProved("coder");
    await persona.kill("coder", talk);

    const { talk: again, banner } = await persona.resume("coder");
    expect(banner).toEqual({ session: session?.id, turns: 2 });
    expect(await again.say("/cd .")).toContain(`now in ${project}`);
  });

  it("keeps its conversation over a new name", async () => {
    const persona = installPersona(vendor);
    const id = await withSecret(persona);
    expect(await persona.home.perdure(["rename", "coder", "writer"])).toMatchObject({ code: 0 });
    const { talk, banner } = await persona.resume("writer");
    expect(banner).toEqual({ session: id, turns: 1 });
    expect(await talk.say("more")).toContain("turns=2 first=the secret");
  });

  it("keeps its conversation when the project moves", async () => {
    const persona = installPersona(vendor);
    const { home } = persona;
    const id = await withSecret(persona);
    const moved = join(home.dir, "moved");
    renameSync(home.project, moved);
    expect(await home.perdure(["project", "move", "api"], { cwd: moved })).toMatchObject({ code: 0 });
    const { talk, banner } = await persona.resume("coder", { cwd: moved });
    expect(banner).toEqual({ session: id, turns: 1 });
    mkdirSync(home.project); // where the tests call from
    expect(await talk.say("/cd .")).toContain(`now in ${moved}`);
    expect(await talk.say("more")).toContain("turns=2 first=the secret");
  });
});

describe("a worktree that was removed", () => {
  async function withoutTree(persona: InstalledPersona): Promise<string> {
    const { home } = persona;
    const tree = join(home.dir, "tree");
    home.git(["init", "-q"]);
    home.git(["commit", "-q", "--allow-empty", "-m", "first"]);
    home.git(["worktree", "add", "-q", tree]);
    const id = await withSecret(persona, tree);
    home.git(["worktree", "remove", "--force", tree]);
    return id;
  }

  it("says so, and its hint works", async () => {
    const persona = installPersona("claude");
    const id = await withoutTree(persona);
    const refused = await persona.home.perdure(["run", "coder"]);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain("no longer exists");
    const hint = /perdure (adopt coder --vendor claude --conversation \S+ --cwd )DIR/.exec(refused.stderr)?.[1] ?? "";
    await persona.home.perdure([...hint.trim().split(" "), persona.home.project]);
    const { banner } = await persona.resume("coder");
    expect(banner).toEqual({ session: id, turns: 1 });
  });

  it("can be left by adopting the conversation in another folder", async () => {
    const persona = installPersona("claude");
    const id = await withoutTree(persona);
    const adopted = await persona.home.perdure(["adopt", "coder", "--vendor", "claude", "--conversation", id]);
    expect(adopted.code).toBe(0);
    const { banner } = await persona.resume("coder");
    expect(banner).toEqual({ session: id, turns: 1 });
  });
});
