import { appendFileSync } from "node:fs";
import { describe, expect, it, test } from "vitest";
import { withPrompt } from "../../../src/daemon/conversations/binding/bindings.ts";
import { OWN_PROMPTS_MAX } from "../../../src/limits/index.ts";
import type { DrillResult } from "../../../src/protocol/records/conversation.ts";
import type { InstalledPersona } from "../../support/persona.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

/** The worker says "one" and "two"; then its transcript goes on from an entry that was never written, as after a moment without space. */
async function loseAnEntry(persona: InstalledPersona): Promise<string> {
  const talk = await persona.begin("coder");
  await talk.say("one");
  await talk.say("two");
  await persona.untilProved("coder");
  await talk.end();
  await persona.untilEndRecorded("coder");
  const id = (await persona.show("coder")).session?.id ?? "";
  const entry = {
    type: "user",
    uuid: "after-the-gap",
    parentUuid: "never-written",
    sessionId: id,
    message: { content: "three" },
  };
  appendFileSync(persona.transcript(id) ?? "", `${JSON.stringify(entry)}\n`);
  return id;
}

test("the mark of the first prompt is kept, so that a gap behind it is known however much was said since", () => {
  const said = Array.from({ length: 3 * OWN_PROMPTS_MAX }, (_, n) => `p${n}`);
  const marks = said.reduce<string[]>(withPrompt, []);
  expect(marks).toEqual(["p0", ...said.slice(1 - OWN_PROMPTS_MAX)]);
  expect(withPrompt(marks, "p0")).toHaveLength(OWN_PROMPTS_MAX);
  expect(withPrompt([], "p0")).toEqual(["p0"]);
});

describe("a transcript with an entry missing in the middle", () => {
  it("is refused, with the turns that a resume would leave out, and drill says the same", async () => {
    const persona = installPersona("claude");
    await loseAnEntry(persona);
    const refused = await persona.home.perdure(["run", "coder"]);
    expect(refused).toMatchObject({ code: 5, stdout: "" });
    expect(refused.stderr).toMatch(
      /what was said up to "two \/ .*" is out of reach, because the entry never-written, which a later one follows/,
    );
    expect(refused.stderr).not.toContain("--kept");
    const [worker] = (await persona.home.json<{ workers: DrillResult[] }>(["drill"])).workers;
    expect(worker).toMatchObject({ ok: false });
    expect(refused.stderr).toContain(worker?.reason ?? "no reason");
  });

  it("is resumed once it was adopted as it is", async () => {
    const persona = installPersona("claude");
    const id = await loseAnEntry(persona);
    const adopted = await persona.home.perdure(["adopt", "coder", "--vendor", "claude", "--conversation", id]);
    expect(adopted).toMatchObject({ code: 0 });
    const { talk, banner } = await persona.resume("coder");
    expect(banner.session).toBe(id);
    await talk.end();
  });
});
