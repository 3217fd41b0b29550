import { describe, expect, it } from "vitest";
import type { Vendor } from "../../support/persona-facts.ts";
import { InstalledPersona } from "../../support/persona.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

/** Arguments that look like ours, like values, like nothing; and ones that choose a conversation. */
const ROWS: { vendor: Vendor; args: string[]; conflicts: string[][] }[] = [
  {
    vendor: "scripted",
    args: ["--model", "a", "--model=b", "--model", "c d"],
    conflicts: [["--resume", "x"], ["--session-id=x"]],
  },
  {
    vendor: "claude",
    args: ["--verbose", "--model", "opus", "--permission-mode", "plan", "--allowedTools", "Bash(ls *)", "--model", "b"],
    conflicts: [["--resume", "x"], ["-r"], ["--continue"], ["-c"], ["--session-id=x"], ["--fork-session"]],
  },
  {
    vendor: "codex",
    args: ["-c", "a=b c", "--model", "resume", "-c", "model=x", "--skip-git-repo-check"],
    conflicts: [["resume", "x"], ["fork", "x"], ["exec", "resume", "--last"], ["--last"]],
  },
];

describe.each(ROWS)("$vendor", ({ vendor, args, conflicts }) => {
  it("gets the same arguments in the same order at every start", async () => {
    const persona = installPersona(vendor);
    const talk = await persona.begin("coder", args);
    await talk.say("the secret");
    await persona.kill("coder", talk);
    for (let round = 0; round < 2; round++) {
      const { talk: again } = await persona.resume("coder");
      await persona.kill("coder", again);
    }
    const starts = persona.starts().map((start) => start.args);
    expect(starts).toHaveLength(3);
    for (const start of starts) expect(start.slice(-args.length)).toEqual(args);
    for (const start of starts.slice(1))
      expect(persona.facts.resumedIn(start)).toBe((await persona.show("coder")).session?.id);
  });

  it.each(conflicts.map((words) => ({ words: words.join(" "), given: words })))(
    "must not be given `$words`",
    async ({ given }) => {
      const persona = installPersona(vendor);
      const refused = await persona.home.perdure(["run", "coder", "--", persona.facts.program, ...given]);
      expect(refused).toMatchObject({ code: 2, stdout: "" });
      expect(refused.stderr).toContain("→");
      expect(persona.starts()).toEqual([]);
      expect((await persona.home.json<{ workers: unknown[] }>(["ls"])).workers).toEqual([]);
    },
  );
});

describe("a bound worker", () => {
  async function bound(persona: InstalledPersona): Promise<string> {
    const talk = await persona.begin("coder", ["--model", "opus"]);
    await talk.say("the secret");
    const { session } = await persona.untilProved("coder");
    await talk.end();
    return session?.id ?? "";
  }

  it.each([["another program", ["sh", "-c", "true"]] as const, ["another vendor", ["codex"]] as const])(
    "refuses %s with a hint, and nothing of it stays",
    async (_what, command) => {
      const persona = installPersona("claude");
      const other = new InstalledPersona(persona.home, "codex");
      const id = await bound(persona);
      const refused = await persona.home.perdure(["run", "coder", "--", ...command]);
      expect(refused).toMatchObject({ code: 5, stdout: "" });
      expect(refused.stderr).toMatch(new RegExp(`${id}[^]*→ .*perdure run coder --fresh`));
      expect(other.starts()).toEqual([]);

      // Its own conversation is as good as ever.
      const worker = await persona.show("coder");
      expect(worker).toMatchObject({ vendor: "claude", command: ["claude", "--model", "opus"], session: { id } });
      expect(worker).toMatchObject({ state: "stopped", attention: null });
      expect((await persona.resume("coder")).banner).toEqual({ session: id, turns: 1 });
    },
  );

  it.each([["its own vendor's", "claude"] as const, ["another vendor's", "codex"] as const])(
    "runs %s program for no conversation, which touches neither binding nor command",
    async (_whose, vendor) => {
      const persona = installPersona("claude");
      const other = new InstalledPersona(persona.home, vendor);
      const id = await bound(persona);
      const ended = await persona.home.perdure(["run", "coder", "--", other.facts.program, "--version"]);
      expect(ended).toMatchObject({ code: 0, stdout: `${vendor} persona\n` });
      const worker = await persona.show("coder");
      expect(worker).toMatchObject({ vendor: "claude", command: ["claude", "--model", "opus"], session: { id } });
      expect((await persona.resume("coder")).banner).toEqual({ session: id, turns: 1 });
    },
  );
});
