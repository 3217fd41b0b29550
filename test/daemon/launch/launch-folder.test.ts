import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { VENDORS } from "../../campaigns/support/costume-looks.ts";
import type { Costume } from "../../campaigns/support/costume.ts";
import { scenes } from "../conversations/scene.ts";

const scene = scenes();

/** A worker with a secret, stopped. */
async function withSecret(costume: Costume, cwd = costume.home.project): Promise<string> {
  const talk = await costume.begin("coder", [], { cwd });
  await talk.say("the secret");
  const { id } = (await costume.home.json<{ session: { id: string } }>(["show", "coder"], { cwd })).session;
  await talk.end();
  return id;
}

describe.each(VENDORS)("%s", (vendor) => {
  it("comes back where it began, wherever it is called from", async () => {
    const costume = scene(vendor);
    const { project, dir } = costume.home;
    costume.home.git(["init", "-q"]);
    const id = await withSecret(costume);
    for (const [cwd, name] of [
      [join(project, "deep", "down"), "coder"],
      [dir, "api/coder"],
    ] as const) {
      mkdirSync(cwd, { recursive: true });
      const { talk, banner } = await costume.resume(name, { cwd });
      expect(banner.session).toBe(id);
      expect(await talk.say("/cd .")).toContain(`now in ${project}`);
      expect(await talk.say("more")).toContain("first=the secret");
      await talk.end();
    }
  });

  it("comes back where it began after it moved by itself", async () => {
    const costume = scene(vendor);
    const { project, dir } = costume.home;
    const talk = await costume.begin("coder");
    await talk.say("the secret");
    await talk.say(`/cd ${dir}`);
    await talk.say("from elsewhere");
    const { session } = await costume.proved("coder");
    await costume.kill("coder", talk);

    const { talk: again, banner } = await costume.resume("coder");
    expect(banner).toEqual({ session: session?.id, turns: 2 });
    expect(await again.say("/cd .")).toContain(`now in ${project}`);
  });

  it("keeps its conversation over a new name", async () => {
    const costume = scene(vendor);
    const id = await withSecret(costume);
    expect(await costume.home.perdure(["rename", "coder", "writer"])).toMatchObject({ code: 0 });
    const { talk, banner } = await costume.resume("writer");
    expect(banner).toEqual({ session: id, turns: 1 });
    expect(await talk.say("more")).toContain("turns=2 first=the secret");
  });

  it("keeps its conversation when the project moves", async () => {
    const costume = scene(vendor);
    const { home } = costume;
    const id = await withSecret(costume);
    const moved = join(home.dir, "moved");
    renameSync(home.project, moved);
    expect(await home.perdure(["project", "move", "api"], { cwd: moved })).toMatchObject({ code: 0 });
    const { talk, banner } = await costume.resume("coder", { cwd: moved });
    expect(banner).toEqual({ session: id, turns: 1 });
    mkdirSync(home.project); // where the tests call from
    expect(await talk.say("/cd .")).toContain(`now in ${moved}`);
    expect(await talk.say("more")).toContain("turns=2 first=the secret");
  });
});

describe("a worktree that was removed", () => {
  async function withoutTree(costume: Costume): Promise<string> {
    const { home } = costume;
    const tree = join(home.dir, "tree");
    home.git(["init", "-q"]);
    home.git(["commit", "-q", "--allow-empty", "-m", "first"]);
    home.git(["worktree", "add", "-q", tree]);
    const id = await withSecret(costume, tree);
    home.git(["worktree", "remove", "--force", tree]);
    return id;
  }

  it("says so, and its hint works", async () => {
    const costume = scene("claude");
    const id = await withoutTree(costume);
    const refused = await costume.home.perdure(["run", "coder"]);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain("is gone");
    const hint = /perdure (adopt coder --vendor claude --session \S+ --cwd )DIR/.exec(refused.stderr)?.[1] ?? "";
    await costume.home.perdure([...hint.trim().split(" "), costume.home.project]);
    const { banner } = await costume.resume("coder");
    expect(banner).toEqual({ session: id, turns: 1 });
  });

  it("can be left by adopting the conversation in another folder", async () => {
    const costume = scene("claude");
    const id = await withoutTree(costume);
    const adopted = await costume.home.perdure(["adopt", "coder", "--vendor", "claude", "--session", id]);
    expect(adopted.code).toBe(0);
    const { banner } = await costume.resume("coder");
    expect(banner).toEqual({ session: id, turns: 1 });
  });
});
