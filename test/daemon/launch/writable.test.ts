import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { DrillResult } from "../../../src/protocol/records/conversation.ts";
import { FleetHome } from "../../support/fleet-home.ts";
import { VENDORS } from "../../support/persona-facts.ts";
import { InstalledPersona } from "../../support/persona.ts";
import { personaInstaller } from "../../support/persona-installer.ts";
import type { Finished, Home } from "../../support/home.ts";
import { cannotLock, lock, LOCKED_WHY } from "../../support/unwritable.ts";

const installPersona = personaInstaller();
const CANNOT_LOCK = cannotLock();
if (CANNOT_LOCK !== null) process.stderr.write(`writable.test.ts is skipped: ${CANNOT_LOCK}\n`);

/** Locks a path for the rest of the test, at most: what is locked could not be removed. */
function locked(path: string): () => void {
  const unlock = lock(path);
  let isLocked = true;
  const once = (): void => {
    if (isLocked) unlock();
    isLocked = false;
  };
  onTestFinished(once);
  return once;
}

async function drill(home: Home, name: string): Promise<DrillResult> {
  const { workers } = await home.json<{ workers: DrillResult[] }>(["drill", name]);
  const [result] = workers;
  if (result === undefined) throw new Error(`no drill of ${name}`);
  return result;
}

function headless(persona: InstalledPersona, name: string, prompt: string, ...words: string[]): Promise<Finished> {
  const { facts, home } = persona;
  return home.perdure(["run", name, ...words, "--", facts.program, ...facts.headless(prompt)]);
}

/** One turn of a worker that has ended; the file it is in. */
async function spokenOnce(persona: InstalledPersona, name = "w"): Promise<string> {
  expect(await headless(persona, name, "the secret")).toMatchObject({ code: 0 });
  const { conversation } = await persona.until(name, "to be copied", ({ run, conversation: found }) => {
    const { custody = null, transcript = null } = found ?? {};
    return run === null && custody !== null && custody.bytes === transcript?.bytes;
  });
  return conversation?.transcript?.file ?? "none";
}

/** Expects a start and a drill to be refused in the same words, nothing to be started, and `path` to be named with the reason. */
async function expectRefused(persona: InstalledPersona, path: string, ...words: string[]): Promise<void> {
  const starts = persona.starts().length;
  const refused = await headless(persona, "w", "lost", ...words);
  expect(refused).toMatchObject({ code: 5, stdout: "" });
  expect(refused.stderr).toContain(`${path}, which cannot be written (${LOCKED_WHY})`);
  expect(persona.starts()).toHaveLength(starts);
  if (words.length > 0) return;
  const { ok, reason, hint } = await drill(persona.home, "w");
  expect(ok).toBe(false);
  expect(refused.stderr).toContain(reason ?? "no reason");
  expect(refused.stderr).toContain(hint ?? "no hint");
  expect(hint).toContain(path);
  expect(hint).toContain("perdure run w");
}

describe.skipIf(CANNOT_LOCK !== null).each(VENDORS)("A3: %s, which would lose what is said", (vendor) => {
  it("is not started in a transcript that cannot be written, and goes on in one that can", async () => {
    const persona = installPersona(vendor);
    const file = await spokenOnce(persona);
    const before = { text: readFileSync(file, "utf8"), mtimeMs: statSync(file).mtimeMs };
    const unlock = locked(file);
    await expectRefused(persona, file);
    unlock();
    expect({ text: readFileSync(file, "utf8"), mtimeMs: statSync(file).mtimeMs }).toEqual(before);
    expect((await persona.show("w")).state).toBe("stopped");
    expect((await headless(persona, "w", "more")).stdout).toContain("turns=2 first=the secret");
  });

  it("is not started where its lost transcript cannot be put back, nor is that put back", async () => {
    const persona = installPersona(vendor);
    const file = await spokenOnce(persona);
    rmSync(file);
    const unlock = locked(dirname(file));
    await expectRefused(persona, dirname(file));
    const kept = await persona.home.perdure(["adopt", "w", "--kept"]);
    expect(kept).toMatchObject({ code: 5, stderr: expect.stringContaining("which cannot be written") as string });
    unlock();
    expect((await drill(persona.home, "w")).ok).toBe(true);
    expect((await headless(persona, "w", "more")).stdout).toContain("turns=2 first=the secret");
  });

  it("puts an emptied transcript back only where that can be renamed", async () => {
    const persona = installPersona(vendor);
    const file = await spokenOnce(persona);
    writeFileSync(file, "");
    const unlock = locked(dirname(file));
    await expectRefused(persona, dirname(file));
    unlock();
    expect((await headless(persona, "w", "more")).stdout).toContain("turns=2 first=the secret");
  });

  it("begins no conversation where none can be written, neither at first nor afresh", async () => {
    const persona = installPersona(vendor);
    mkdirSync(persona.configDir, { recursive: true });
    const unlock = locked(persona.configDir);
    const first = await headless(persona, "w", "lost");
    expect(first.code).toBe(5);
    expect(first.stderr).toContain(`below ${persona.configDir}, which cannot be written (${LOCKED_WHY})`);
    expect((await persona.home.perdure(["show", "w"])).code).toBe(3);
    expect(await persona.home.perdure(["run", "w", "--", persona.facts.program, "--version"])).toMatchObject({
      code: 0,
    });
    unlock();
    const file = await spokenOnce(persona);
    const folder = vendor === "codex" ? join(persona.configDir, "sessions") : dirname(file);
    const again = locked(folder);
    await expectRefused(persona, folder, "--fresh");
    again();
    expect((await headless(persona, "w", "anew", "--fresh")).stdout).toContain("turns=1");
  });
});

describe.skipIf(CANNOT_LOCK !== null)("A3: a fleet's worker that would lose what is said", () => {
  it("is refused by up, and by restart, which stops nothing for it", async () => {
    const home = new FleetHome('[workers.w]\ncommand = ["claude"]\n');
    onTestFinished(() => home.clear());
    const persona = new InstalledPersona(home, "claude");
    mkdirSync(persona.configDir, { recursive: true });
    const unlock = locked(persona.configDir);
    const [refused] = (await home.up()).workers;
    expect(refused).toMatchObject({ outcome: "refused" });
    expect(refused?.reason).toContain(`below ${persona.configDir}, which cannot be written (${LOCKED_WHY})`);
    expect((await drill(home, "w")).reason).toBe(refused?.reason);
    unlock();

    expect((await home.up()).workers[0]).toMatchObject({ outcome: "started" });
    const [before] = await home.untilIdle();
    const again = locked(persona.configDir);
    const restart = await home.perdure(["restart", "w"]);
    expect(restart.code).toBe(5);
    expect(restart.stderr).toContain(`which cannot be written (${LOCKED_WHY})`);
    expect(restart.stderr).toContain((await drill(home, "w")).reason ?? "no reason");
    expect((await home.workers())[0]?.run?.id).toBe(before?.run?.id);
    again();
    expect(await home.perdure(["restart", "w"])).toMatchObject({ code: 0 });
  });
});
