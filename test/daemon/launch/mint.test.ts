import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Costume } from "../../campaigns/support/costume.ts";
import { scenes } from "../conversations/scene.ts";

const scene = scenes();

/** codex whose app-server fails in one way. */
function breakAppServer(costume: Costume, how: string): void {
  writeFileSync(join(costume.home.dir, "bin", "codex"), `#!/bin/sh\n${how}\n`, { mode: 0o755 });
}

const WAYS: [what: string, how: string][] = [
  ["ends at once", "echo broken >&2; exit 3"],
  ["speaks no JSON", "echo hello; exit 0"],
  ["refuses", `read line; echo '{"id":1,"error":{"code":-32600,"message":"no"}}'; sleep 60`],
  [
    "gives no id",
    `read line; echo '{"id":1,"result":{}}'; read line; read line; echo '{"id":2,"result":{}}'; sleep 60`,
  ],
];

it.each(WAYS)("an app-server that %s gives the name back and binds nothing", async (_what, how) => {
  const costume = scene("codex");
  breakAppServer(costume, how);
  const failed = await costume.home.perdure(["run", "coder", "--", "codex"]);
  expect(failed).toMatchObject({ code: 7, stdout: "" });
  expect(failed.stderr).toMatch(/app-server could not open a conversation[^]*→ /);
  expect(costume.starts()).toEqual([]);
  expect(await costume.show("coder")).toMatchObject({ run: null, session: null, processes: [] });

  const healed = new Costume(costume.home, "codex");
  const talk = await healed.begin("coder");
  expect(await talk.say("the secret")).toContain("turns=1 first=the secret");
});

it.each(["claude", "codex"] as const)(
  "a %s worker keeps its conversation when the new one cannot be had",
  async (vendor) => {
    const costume = scene(vendor);
    const talk = await costume.begin("coder", ["--model", "opus"]);
    await talk.say("the secret");
    const { session, command } = await costume.proved("coder");
    await talk.end();
    const codex = new Costume(costume.home, "codex");
    breakAppServer(codex, "exit 3");

    const failed = await costume.home.perdure(["run", "coder", "--fresh", "--", "codex"]);
    expect(failed).toMatchObject({ code: 7, stdout: "" });
    expect(await costume.show("coder")).toMatchObject({ run: null, session: { id: session?.id }, vendor, command });
    const again = new Costume(costume.home, vendor);
    const { talk: back, banner } = await again.resume("coder");
    expect(banner).toEqual({ session: session?.id, turns: 1 });
    expect(await back.say("more")).toContain("turns=2 first=the secret");
  },
);
