import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { DrillResult, SessionRecord } from "../../../src/protocol/records/conversation.ts";
import type { RestoredAt } from "../../../src/protocol/records/restored.ts";
import { eventually } from "../../support/check.ts";
import type { InstalledPersona } from "../../support/persona.ts";
import { personaInstaller } from "../../support/persona-installer.ts";
import type { Talk } from "../../support/talk.ts";

const installPersona = personaInstaller();

/** The worker says "two", and a process that was opened by hand before goes on from "one": the worker's turn is left out. */
async function splitConversation(persona: InstalledPersona): Promise<string> {
  const { talk, byHand, id } = await openedBeside(persona);
  await talk.say("two");
  await talk.end();
  await persona.untilEndRecorded("coder");
  await byHand.say("three by hand");
  await byHand.end();
  return id;
}

async function openedBeside(persona: InstalledPersona): Promise<{ talk: Talk; byHand: Talk; id: string }> {
  const talk = await persona.begin("coder");
  await talk.say("one");
  const id = (await persona.untilProved("coder")).session?.id ?? "";
  const byHand = persona.runDirectly(["--resume", id]);
  await byHand.answer();
  return { talk, byHand, id };
}

describe("claude, opened by hand beside the worker", () => {
  it("A5: refuses a start that would leave out the worker's own turn, and names both branches; drill says the same", async () => {
    const persona = installPersona("claude");
    const id = await splitConversation(persona);
    const refused = await persona.home.perdure(["run", "coder"]);
    expect(refused).toMatchObject({ code: 5, stdout: "" });
    expect(refused.stderr).toContain(id);
    expect(refused.stderr).toContain(`The worker's own side ends with: "two / turns=2 first=one last=two"`);
    expect(refused.stderr).toContain(`The other ends with: "three by hand / turns=2 first=one last=three by hand"`);
    expect(refused.stderr).toContain("perdure adopt coder --kept");
    expect(refused.stderr).toContain("perdure run coder --accept");

    const drill = await persona.home.perdure(["drill", "--json"]);
    expect(drill.code).toBe(5);
    const [worker] = (JSON.parse(drill.stdout) as { workers: DrillResult[] }).workers;
    expect(refused.stderr).toContain(worker?.reason ?? "no reason");
    expect(refused.stderr).toContain(worker?.hint ?? "no hint");
    expect(await persona.show("coder")).toMatchObject({ state: "unresumable" });
    expect(persona.starts().map(({ name }) => name)).toEqual(["coder", ""]);
  });

  it("A5: adopt --kept goes on in the worker's own branch, and says where both are", async () => {
    const persona = installPersona("claude");
    const id = await splitConversation(persona);
    const adopted = await persona.home.perdure(["adopt", "coder", "--kept", "--json"]);
    expect(adopted).toMatchObject({ code: 0 });
    const { restored } = JSON.parse(adopted.stdout) as { restored: RestoredAt };
    expect(restored.missingBytes).toBe(0);
    expect(readFileSync(restored.aside ?? "", "utf8")).toContain("three by hand");
    expect(persona.prompts(id)).toEqual(["one", "two"]);
    const { talk, banner } = await persona.resume("coder");
    expect(banner).toEqual({ session: id, turns: 2 });
    expect(await talk.say("four")).toContain("turns=3 first=one last=four");
    await talk.end();
    expect(existsSync(restored.aside ?? "")).toBe(true);
    await persona.untilEndRecorded("coder");
    expect((await persona.resume("coder")).banner).toEqual({ session: id, turns: 3 });
  });

  it("A5: the file with both branches stays where the new copy could not be made", async () => {
    const persona = installPersona("claude");
    await splitConversation(persona);
    const custody = join(persona.home.state, "custody");
    const [folder = ""] = readdirSync(custody);
    // A folder with the name of the file that is written first: the new copy fails as on a full disk.
    mkdirSync(join(custody, folder, "transcript.tmp"));
    const adopted = await persona.home.perdure(["adopt", "coder", "--kept", "--json"]);
    const { restored } = JSON.parse(adopted.stdout) as { restored: RestoredAt };
    await persona.home.perdure(["daemon", "stop"]);
    const orphan = join(custody, "999999");
    mkdirSync(orphan);
    await persona.show("coder");
    await eventually("the sweep", () => !existsSync(orphan));
    await persona.show("coder");
    expect(readFileSync(restored.aside ?? "", "utf8")).toContain("three by hand");
  });

  it("A5: run --accept takes the other branch on purpose, once, and records it", async () => {
    const persona = installPersona("claude");
    const id = await splitConversation(persona);
    const talk = persona.run("coder", ["--accept"]);
    expect(await talk.answer()).toContain(`session  ${id}`);
    expect(await talk.say("four")).toContain("turns=3 first=one last=four");
    await talk.end();
    const [event] = await persona.events("session.split-accepted");
    expect(event?.data).toMatchObject({ session: id, leftWords: "two / turns=2 first=one last=two" });
    await persona.untilEndRecorded("coder");
    expect((await persona.resume("coder")).banner).toEqual({ session: id, turns: 3 });
  });

  it("A5: --fresh begins anew, and only the operator accepts", async () => {
    const persona = installPersona("claude");
    await splitConversation(persona);
    expect(await persona.home.perdure(["run", "coder", "--fresh", "--accept"])).toMatchObject({ code: 2 });
    const talk = persona.run("coder", ["--fresh"]);
    await talk.answer();
    expect(await talk.say("anew")).toContain("turns=1 first=anew");
  });

  it("A5: is not refused where the other process went on after the worker's turn, nor where the worker spoke last", async () => {
    const persona = installPersona("claude");
    const talk = await persona.begin("coder");
    await talk.say("one");
    const id = (await persona.untilProved("coder")).session?.id ?? "";
    await talk.end();
    await persona.untilEndRecorded("coder");
    const after = persona.runDirectly(["--resume", id]);
    await after.answer();
    await after.say("two by hand");
    await after.end();
    const again = await persona.resume("coder");
    expect(again.banner).toEqual({ session: id, turns: 2 });

    const beside = persona.runDirectly(["--resume", id]);
    await beside.answer();
    await beside.say("three by hand");
    await beside.end();
    await again.talk.say("three");
    await again.talk.end();
    await persona.untilEndRecorded("coder");
    expect((await persona.home.perdure(["drill"])).code).toBe(0);
    const last = await persona.resume("coder");
    expect(await last.talk.say("four")).toContain("turns=4 first=one last=four");
  });

  it("A5: knows the worker's turns that it said while no daemon ran", async () => {
    const persona = installPersona("claude");
    const { talk, byHand } = await openedBeside(persona);
    await persona.home.perdure(["daemon", "stop"]);
    await talk.say("two");
    await talk.end();
    await byHand.say("three by hand");
    await byHand.end();
    const refused = await persona.home.perdure(["run", "coder"]);
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain(`The worker's own side ends with: "two`);
    const { sessions } = await persona.home.json<{ sessions: SessionRecord[] }>(["history", "coder"]);
    expect(sessions).toHaveLength(1);
  });
});

it("A5: supervision does not choose: a member of a fleet stays unresumable, with the reason", async () => {
  const persona = installPersona("claude");
  const { home } = persona;
  await splitConversation(persona);
  writeFileSync(join(home.project, "perdure.toml"), '[workers.coder]\nvendor = "claude"\n');
  const up = await home.perdure(["up", "--yes"]);
  expect(up.code).toBe(5);
  const coder = await persona.show("coder");
  expect(coder).toMatchObject({ state: "unresumable", run: null });
  expect(`${up.stdout}${up.stderr}`).toContain("three by hand");
  expect((await home.perdure(["restart", "coder"])).code).toBe(5);
  expect(persona.starts()).toHaveLength(2);
  await home.perdure(["down"]);
});
