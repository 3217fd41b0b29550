import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fileNameOf } from "../../../src/protocol/foreign-id.ts";
import { idIn, killDaemon, scenes } from "./scene.ts";

const scene = scenes();

it("a takeover first hears what the run had said while no daemon ran", async () => {
  const costume = scene("claude");
  const talk = await costume.begin("coder");
  await talk.say("the first secret");
  await costume.proved("coder");
  await killDaemon(costume.home);
  const id = idIn(await talk.say("/clear"));
  await talk.say("the second secret");
  expect((await costume.home.perdure(["takeover", "coder"])).code).toBe(0);
  const { banner } = await costume.resume("coder");
  expect(banner).toEqual({ session: id, turns: 1 });
});

it("an id that could be an option or a path moves nobody", async () => {
  const costume = scene("claude");
  const talk = await costume.begin("coder");
  await talk.say("the secret");
  const { session, run } = await costume.proved("coder");
  const folder = join(costume.home.state, "runs", fileNameOf(run?.id ?? ""));
  for (const [index, bad] of ["--dangerously-skip-permissions", "../../x", "a b", ""].entries()) {
    const event = { session_id: bad, hook_event_name: "SessionStart", source: "clear", transcript_path: "/etc/passwd" };
    writeFileSync(join(folder, `event.99999999.${index}`), JSON.stringify(event));
  }
  // Heard in the order they were written: once this one is known, the others were.
  const id = idIn(await talk.say("/clear"));
  await costume.until("coder", "to be seen there", (worker) => worker.session?.id === id);
  const rotated = (await costume.events("session.rotated")).map(({ data }) => data);
  expect(rotated).toEqual([expect.objectContaining({ from: session?.id, to: id })]);
});
