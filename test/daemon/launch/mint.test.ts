import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { InstalledPersona } from "../../support/persona.ts";
import { personaInstaller } from "../../support/persona-installer.ts";

const installPersona = personaInstaller();

/** codex whose app-server fails in one way. */
function breakAppServer(persona: InstalledPersona, how: string): void {
  writeFileSync(join(persona.home.dir, "bin", "codex"), `#!/bin/sh\n${how}\n`, { mode: 0o755 });
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
  const persona = installPersona("codex");
  breakAppServer(persona, how);
  const failed = await persona.home.perdure(["run", "coder", "--", "codex"]);
  expect(failed).toMatchObject({ code: 7, stdout: "" });
  expect(failed.stderr).toMatch(/app-server could not open a conversation[^]*→ /);
  expect(persona.starts()).toEqual([]);
  expect(await persona.show("coder")).toMatchObject({ run: null, session: null, processes: [] });

  const healed = new InstalledPersona(persona.home, "codex");
  const talk = await healed.begin("coder");
  expect(await talk.say("the secret")).toContain("turns=1 first=the secret");
});

it.each(["claude", "codex"] as const)(
  "a %s worker keeps its conversation when the new one cannot be had",
  async (vendor) => {
    const persona = installPersona(vendor);
    const talk = await persona.begin("coder", ["--model", "opus"]);
    await talk.say("the secret");
    const { session, command } = await persona.untilProved("coder");
    await talk.end();
    const codex = new InstalledPersona(persona.home, "codex");
    breakAppServer(codex, "exit 3");

    const failed = await persona.home.perdure(["run", "coder", "--fresh", "--", "codex"]);
    expect(failed).toMatchObject({ code: 7, stdout: "" });
    expect(await persona.show("coder")).toMatchObject({ run: null, session: { id: session?.id }, vendor, command });
    const again = new InstalledPersona(persona.home, vendor);
    const { talk: back, banner } = await again.resume("coder");
    expect(banner).toEqual({ session: session?.id, turns: 1 });
    expect(await back.say("more")).toContain("turns=2 first=the secret");
  },
);
