import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileNameOf } from "../../../../src/protocol/foreign-id.ts";
import { sessionIdIn, killDaemon, personaInstaller } from "../../../support/persona-installer.ts";

const installPersona = personaInstaller();

it("a takeover first hears what the run had said while no daemon ran", async () => {
  const persona = installPersona("claude");
  const talk = await persona.begin("coder");
  await talk.say("the first secret");
  await persona.untilProved("coder");
  await killDaemon(persona.home);
  const id = sessionIdIn(await talk.say("/clear"));
  await talk.say("the second secret");
  expect((await persona.home.perdure(["takeover", "coder"])).code).toBe(0);
  const { banner } = await persona.resume("coder");
  expect(banner).toEqual({ session: id, turns: 1 });
});

it("an id that could be an option or a path moves nobody", async () => {
  const persona = installPersona("claude");
  const talk = await persona.begin("coder");
  await talk.say("the secret");
  const { session, run } = await persona.untilProved("coder");
  const folder = join(persona.home.state, "runs", fileNameOf(run?.id ?? ""));
  for (const [index, bad] of ["--dangerously-skip-permissions", "../../x", "a b", ""].entries()) {
    const event = { session_id: bad, hook_event_name: "SessionStart", source: "clear", transcript_path: "/etc/passwd" };
    writeFileSync(join(folder, `event.99999999.${index}`), JSON.stringify(event));
  }
  // Heard in the order they were written: once this one is known, the others were.
  const id = sessionIdIn(await talk.say("/clear"));
  await persona.until("coder", "to be seen there", (worker) => worker.session?.id === id);
  const rotated = (await persona.events("session.rotated")).map(({ data }) => data);
  expect(rotated).toEqual([expect.objectContaining({ from: session?.id, to: id })]);
});
