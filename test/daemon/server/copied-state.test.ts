import { execFileSync } from "node:child_process";
import { renameSync, rmSync } from "node:fs";
import { expect, test } from "vitest";
import type { DaemonStatus } from "../../../src/protocol/records/admin.ts";
import { personaInstaller, sessionIdIn } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();
const TOLD = /this state folder is a copy as of 20[-0-9]+T[:.0-9]+Z: if coder was in another conversation after that/;

test("A: a state folder that is put back from a copy takes no worker to an earlier conversation without a word", async () => {
  const persona = installPersona("claude");
  const { home } = persona;
  const first = await persona.begin("coder");
  await first.say("the secret");
  const old = (await persona.untilProved("coder")).session?.id;
  await first.end();
  await persona.untilEndRecorded("coder");
  await home.perdure(["daemon", "stop"]);
  const copy = `${home.state}.copy`;
  execFileSync("cp", ["-a", home.state, copy]);

  const second = await persona.resume("coder");
  const id = sessionIdIn(await second.talk.say("/clear"));
  await second.talk.say("the second secret");
  await persona.until("coder", "to be followed", ({ session }) => session?.id === id);
  await second.talk.end();
  expect((await second.talk.ended).stderr).not.toMatch(TOLD);
  await persona.untilEndRecorded("coder");
  await home.perdure(["daemon", "stop"]);
  rmSync(home.state, { recursive: true });
  renameSync(copy, home.state);

  expect((await home.json<DaemonStatus>(["daemon", "start"])).store.copiedAt).toMatch(/^20/);
  expect((await home.perdure(["drill", "coder"])).stdout).toContain("this state folder is a copy as of");
  expect((await home.perdure(["doctor"])).stdout).toContain("this state folder is a copy as of");
  const third = await persona.resume("coder");
  expect(third.banner.session).toBe(old);
  await third.talk.end();
  expect((await third.talk.ended).stderr).toMatch(TOLD);
  expect(await home.perdure(["adopt", "coder", "--conversation", id])).toMatchObject({ code: 0 });

  // The next start is in what has been known since.
  const fourth = await persona.resume("coder");
  expect(fourth.banner.session).toBe(id);
  await fourth.talk.end();
  expect((await fourth.talk.ended).stderr).not.toMatch(TOLD);
});

test("a state folder that was only moved away and back is none", async () => {
  const persona = installPersona("claude");
  const { home } = persona;
  await (await persona.begin("coder")).end();
  await home.perdure(["daemon", "stop"]);
  renameSync(home.state, `${home.state}.away`);
  renameSync(`${home.state}.away`, home.state);
  expect((await home.json<DaemonStatus>(["daemon", "start"])).store.copiedAt).toBeNull();
});
