import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Home } from "../../support/home.ts";

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.clear());

async function shownBy(toml: string): Promise<string> {
  writeFileSync(join(home.project, "perdure.toml"), toml);
  const { code, stderr } = await home.perdure(["trust"]);
  expect(code).toBe(5);
  return stderr;
}

test("no order to a model is hidden in characters that nobody sees", async () => {
  const tags = "\u{e0072}\u{e006d}"; // "rm"
  writeFileSync(join(home.project, "p.md"), `Be kind.${tags}\u{e0101}\u200d\u200b\ufe0f`);
  const shown = await shownBy(
    `[workers.w]\nvendor = "scripted"\nprompt = "p.md"\nargs = ["a\u200bb\u3164", "\u202ec"]\n`,
  );
  expect(shown).toContain("Be kind.\\u{e0072}\\u{e006d}\\u{e0101}\\u200d\\u200b\\ufe0f");
  expect(shown).toContain("'a\\u200bb\\u3164' '\\u202ec'");
  expect(shown).not.toMatch(/\p{Default_Ignorable_Code_Point}/u);
});

test("the bounds of what mail begins by itself are shown before anybody agrees to them", async () => {
  const shown = await shownBy(
    '[workers.w]\nvendor = "scripted"\nmode = "turn"\n[turns]\nper_hour = 6000\n[mail]\nwakes_per_hour = 600\nintroduce = true\n',
  );
  expect(shown).toContain("  [turns] per_hour = 6000\n  [mail] wakes_per_hour = 600\n");
  expect(shown).not.toContain("introduce");
});

test("after a change only what changed is shown, and that perdure asks after every one", async () => {
  const sleeper = '[workers.sleeper]\nvendor = "scripted"\nmode = "turn"\n';
  writeFileSync(join(home.project, "perdure.toml"), sleeper);
  expect((await home.perdure(["trust", "--yes"])).code).toBe(0);
  const critic = '[workers.critic]\nvendor = "scripted"\nmode = "turn"\n';
  const shown = await shownBy(sleeper + critic);
  expect(shown).toMatch(
    /since you agreed to run it; perdure asks after every change, one of your own, too\. What changed:\n/,
  );
  expect(shown).toContain("critic answers mail by itself");
  expect(shown).not.toContain("sleeper");
  expect(shown).toContain("if the change is right: perdure trust, and answer y");
  const all = await shownBy(`${sleeper}[turns]\nper_hour = 9\n`);
  expect(all).toContain("sleeper answers mail by itself");
});
