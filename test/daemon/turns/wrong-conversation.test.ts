import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { MailStep } from "../../../src/protocol/records/mail.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

test("A1: a turn that comes up in a wrong conversation is not made again: its worker is on hold, with its mail", async () => {
  const persona = installPersona("claude");
  const { home, facts } = persona;
  writeFileSync(join(home.project, "perdure.toml"), '[workers.w]\nvendor = "claude"\nmode = "turn"\n');
  const front = join(home.dir, "front");
  mkdirSync(front);
  writeFileSync(join(front, facts.program), elsewhere(join(home.dir, "bin", facts.program)), { mode: 0o755 });
  home.env.PATH = `${front}:${home.env.PATH}`;
  await home.json(["up", "--yes"]);

  await home.perdure(["send", "w", "one", "--expects-reply", "--id", "ask-1"]);
  await persona.until("w", "to have been made again, or not", ({ state, run, generation }) => {
    return state === "on-hold" || (run === null && generation > 3);
  });
  const held = await persona.show("w");
  expect(held).toMatchObject({ state: "on-hold", run: null, session: { proved: false } });
  expect(held.attention).toMatch(/^it was in a wrong conversation: .*hook/);
  expect((await home.json<{ steps: MailStep[] }>(["mail", "ask-1"])).steps.map(({ state }) => state)).toEqual([
    "queued",
    "offered",
    "queued",
  ]);
  const { runs } = await persona.history("w");
  expect(runs).toHaveLength(1);
  expect(runs[0]?.turn).toMatchObject({ outcome: "returned", reason: held.attention });
});

/** A program in front of another that begins a conversation of its own first, and hangs before it comes to the one it was asked for. */
function elsewhere(real: string): string {
  return `#!/bin/sh
for word; do
  shift
  case "$word" in --session-id | --resume) skip=1 ;; *) [ -n "$skip" ] || set -- "$@" "$word"; skip= ;; esac
done
'${real}' "$@" </dev/null >/dev/null
exec sleep 600
`;
}

test("A1: a turn that ends well and was in no conversation fails, and the mail behind it waits", async () => {
  const persona = installPersona("claude");
  const { home, facts } = persona;
  const talk = await persona.begin("w");
  await talk.say("the secret");
  await persona.untilProved("w");
  await talk.end();
  await persona.untilEndRecorded("w");
  writeFileSync(join(home.project, "perdure.toml"), '[workers.w]\nvendor = "claude"\nmode = "turn"\n');
  const front = join(home.dir, "front");
  mkdirSync(front);
  writeFileSync(join(front, facts.program), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  home.env.PATH = `${front}:${home.env.PATH}`;
  await home.json(["up", "--yes"]);

  expect(await home.perdure(["ask", "w", "one"])).toMatchObject({
    code: 5,
    stderr: expect.stringContaining("it was in a wrong conversation") as string,
  });
  const held = await persona.until("w", "to be on hold", ({ state }) => state === "on-hold");
  expect(held.attention).toMatch(/^it was in a wrong conversation: /);
  await home.perdure(["send", "w", "two", "--id", "plain-2"]);
  expect((await home.json<{ steps: MailStep[] }>(["mail", "plain-2"])).steps.map(({ state }) => state)).toEqual([
    "queued",
  ]);
  expect((await persona.history("w")).runs).toHaveLength(2);
});
