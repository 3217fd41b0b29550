import { appendFileSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, it } from "vitest";
import type { InstalledPersona } from "../../support/persona.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

const ANOTHER = "01a1ef20-2c94-79b2-9f4b-a725ffad15f5";

/** A worker of codex whose user has rewound its conversation, so that it went on in a second file, and which has ended. */
async function rewound(): Promise<{ persona: InstalledPersona; id: string; first: string; later: string }> {
  const persona = installPersona("codex");
  const talk = await persona.begin("coder");
  await talk.say("one");
  const id = (await persona.untilProved("coder")).session?.id ?? "";
  const first = persona.transcript(id) ?? "";
  const later = join(dirname(first), `${basename(first, ".jsonl")}_${ANOTHER}.jsonl`);
  const [head = ""] = readFileSync(first, "utf8").split("\n", 1);
  writeFileSync(later, `${head}\n${'{"type":"response_item","payload":{"type":"message","role":"user"}}\n'.repeat(9)}`);
  await talk.end();
  await persona.until("coder", "to be stopped", ({ run }) => run === null);
  const whole = statSync(first).size + statSync(later).size;
  await persona.until("coder", "to be copied", ({ conversation }) => conversation?.custody?.bytes === whole);
  await persona.home.perdure(["daemon", "stop"]);
  return { persona, id, first, later };
}

it("every file of a conversation that was rewound is copied, and put back if it is lost", async () => {
  const { persona, id, first, later } = await rewound();
  const before = [readFileSync(first), readFileSync(later)];
  rmSync(later);
  const drill = await persona.home.perdure(["drill", "coder"]);
  expect(drill).toMatchObject({ code: 0, stdout: expect.stringContaining("would be restored") as string });
  expect(existsSync(later)).toBe(false);
  const { talk } = await persona.resume("coder");
  expect(readFileSync(later)).toEqual(before[1]);
  expect((await talk.end()).stderr).toContain("restored from perdure's copy");
  expect((await persona.show("coder")).session?.id).toBe(id);

  await persona.home.perdure(["daemon", "stop"]);
  rmSync(first);
  rmSync(later);
  await (await persona.resume("coder")).talk.end();
  expect(readFileSync(first).subarray(0, before[0]?.length)).toEqual(before[0]);
  expect(readFileSync(later)).toEqual(before[1]);
});

it("a later file that was changed is refused; back at the copy, what was begun since is set aside", async () => {
  const { persona, later } = await rewound();
  const before = readFileSync(later, "utf8");
  writeFileSync(later, before.replace('"role":"user"', '"role":"resu"'));
  const stray = later.replace(ANOTHER, "02a1ef20-2c94-79b2-9f4b-a725ffad15f5");
  writeFileSync(stray, before);
  const { code, stderr } = await persona.home.perdure(["run", "coder"]);
  expect({ code, stderr }).toMatchObject({ code: 5, stderr: expect.stringContaining("1 of the lines") as string });
  expect(stderr).toContain(later);
  expect(await persona.home.perdure(["adopt", "coder", "--kept"])).toMatchObject({ code: 0 });
  expect(readFileSync(later, "utf8")).toBe(before);
  expect([existsSync(stray), existsSync(`${stray}.lost`)]).toEqual([false, true]);
  await (await persona.resume("coder")).talk.end();
});

it("a later file that is cut short while nobody looks is refused, and a damaged copy of it is not put back", async () => {
  const { persona, later } = await rewound();
  truncateSync(later, 200);
  expect((await persona.home.perdure(["run", "coder"])).stderr).toContain("was cut short");
  rmSync(later);
  const copy = join(persona.home.state, "custody", "1", "later", basename(later));
  appendFileSync(copy, "");
  writeFileSync(copy, readFileSync(copy, "utf8").replace('"role":"user"', '"role":"resu"'));
  const { code, stderr } = await persona.home.perdure(["run", "coder"]);
  expect({ code, stderr }).toMatchObject({ code: 5, stderr: expect.stringContaining("was cut short") as string });
  expect(existsSync(later)).toBe(false);
});
