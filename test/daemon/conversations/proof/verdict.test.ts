import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { finish, type Finished } from "../../../support/home.ts";
import { eventually } from "../../../support/check.ts";
import { VENDORS } from "../../../support/persona-facts.ts";
import type { InstalledPersona } from "../../../support/persona.ts";
import { personaInstaller } from "../../../support/persona-installer.ts";

const installPersona = personaInstaller();

/** Puts a shell script in front of the vendor's program; `real` is the program itself, `$runs` the folder of all runs. */
function putInFront(persona: InstalledPersona, script: string): void {
  const program = join(persona.home.dir, "bin", persona.facts.program);
  writeFileSync(`${program}.real`, readFileSync(program), { mode: 0o755 });
  const state = persona.home.state;
  const text = `#!/bin/sh
case "$1 $2" in --version*|app-server*|*app-server) exec '${program}.real' "$@" ;; esac
runs='${state}/runs'
daemon() { sed 's/{"pid":\\([0-9]*\\).*/\\1/' '${state}/daemon.json'; }
real() { '${program}.real' "$@"; }
${script}
`;
  writeFileSync(program, text, { mode: 0o755 });
}

function headless(persona: InstalledPersona, prompt: string, options: object = {}): Promise<Finished> {
  return persona.home.perdure(["run", "w", "--", persona.facts.program, ...persona.facts.headless(prompt)], options);
}

/** The lines on stderr that are the wrapper's last words. */
function verdictLines({ stderr }: Finished): string[] {
  return stderr.split("\n").filter((line) => line.includes("should have been in"));
}

/** Tells whether the wrapper of the only run went to wait for the daemon. */
function hasWaited(persona: InstalledPersona): boolean {
  const [run = ""] = readdirSync(join(persona.home.state, "runs"));
  return existsSync(join(persona.home.state, "runs", run, "verdict-wait"));
}

describe.each(VENDORS)("A2: a headless %s", (vendor) => {
  it("that opened nothing and succeeded ends with 5, and says so in one line", async () => {
    const persona = installPersona(vendor);
    putInFront(persona, "exit 0");
    const ended = await headless(persona, "hello");
    expect(ended).toMatchObject({ code: 5, stdout: "" });
    const [line = "", another] = verdictLines(ended);
    const { session } = await persona.show("w");
    expect(another).toBeUndefined();
    expect(line).toContain(
      `api/w should have been in ${vendor} conversation ${session?.id}, but was not: ended well and`,
    );
    expect(line).toContain("→ perdure history w");
    const { runs } = await persona.history("w");
    expect(runs[0]).toMatchObject({ exit: 0, reason: "exited", sessions: [{ proved: false }] });
  });

  it("that ended in another conversation does not end with 0", async () => {
    const persona = installPersona(vendor);
    expect(await headless(persona, "the secret")).toMatchObject({ code: 0 });
    const { session } = await persona.show("w");
    const env = { ...persona.home.env, PERDURE_SCRIPT: "wrong-id" };
    const ended = await headless(persona, "something else", { env });
    expect(ended.code).not.toBe(0);
    expect(verdictLines(ended)).toHaveLength(1);
    expect(verdictLines(ended)[0]).toContain(session?.id);
    expect((await persona.show("w")).session).toMatchObject({ id: session?.id, proved: false });
  });

  it("that failed by itself keeps its own code", async () => {
    const persona = installPersona(vendor);
    putInFront(persona, "exit 7");
    const ended = await headless(persona, "hello");
    expect(ended.code).toBe(7);
    expect(verdictLines(ended)).toEqual([]);
  });

  it("is not kept waiting if the daemon was killed", async () => {
    const persona = installPersona(vendor);
    putInFront(persona, "kill -KILL $(daemon); while kill -0 $(daemon); do :; done 2>/dev/null; exit 0");
    expect(await headless(persona, "hello")).toMatchObject({ code: 0 });
    expect(hasWaited(persona)).toBe(false);
  });

  it("in its own conversation is proved by its transcript while the wrapper waits, and ends with 0", async () => {
    const persona = installPersona(vendor);
    const ended = await headless(persona, "hello");
    expect(ended).toMatchObject({ code: 0 });
    expect(verdictLines(ended)).toEqual([]);
    expect((await persona.show("w")).session).toMatchObject({ proved: true });
  });
});

describe("A2: the verdict on a headless claude", () => {
  /** Comes up in a wrong conversation, which its hook tells, and answers TERM in its own way. */
  const STOPPED = (code: number): string => `trap 'exit ${code}' TERM
PERDURE_SCRIPT='wrong-id; /sleep 60000' real "$@" & wait`;

  it("does not replace the code of a program that was stopped and failed", async () => {
    const persona = installPersona("claude");
    putInFront(persona, STOPPED(7));
    const ended = await headless(persona, "hello");
    expect(ended.code).toBe(7);
    expect(verdictLines(ended)[0]).toContain("hook (startup) shows");
    expect((await persona.history("w")).runs[0]).toMatchObject({ exit: 7 });
  });

  it("replaces the 0 of a program that was stopped", async () => {
    const persona = installPersona("claude");
    putInFront(persona, STOPPED(0));
    const ended = await headless(persona, "hello");
    expect(ended.code).toBe(5);
    expect(ended.stderr).not.toContain("was displaced by");
    expect((await persona.history("w")).runs[0]).toMatchObject({ exit: 0 });
  });
});

it("A3: a headless run that was interrupted before it wrote anything is not taken for one that records nothing", async () => {
  const persona = installPersona("claude");
  const real = join(persona.home.dir, "bin", "claude.real");
  // Some programs end with 0 when they are interrupted.
  putInFront(
    persona,
    `[ -e '${real}.again' ] && exec '${real}' "$@"; trap 'exit 0' TERM; : > '${real}.again'; while :; do sleep 0.05; done`,
  );
  const child = persona.home.spawn(["run", "w", "--", "claude", ...persona.facts.headless("hello")]);
  const finished = finish(child);
  await eventually("the program to wait", () => existsSync(`${real}.again`));
  child.kill("SIGTERM");
  expect(await finished).toMatchObject({ code: 0 });
  await eventually("the end of the run", async () => (await persona.show("w")).run === null);
  expect((await persona.show("w")).state).toBe("stopped");
  expect(await headless(persona, "hello")).toMatchObject({ code: 0 });
  expect((await persona.show("w")).session).toMatchObject({ proved: true });
});

describe("A2: with a daemon that does not answer", () => {
  const SUSPEND = "kill -STOP $(daemon)";
  const PROVED = 'real "$@"; until [ -s "$runs"/*/verdict ]; do sleep 0.01; done';

  it("a run that is proved already does not wait, and one that is not waits no longer than its timer", async () => {
    const floor = await timeOf("sleep 1; exit 1");
    const unproved = await timeOf(`${SUSPEND}; exit 0`);
    const proved = await timeOf(`${PROVED}; ${SUSPEND}; exit 0`);
    expect(unproved.waited).toBe(true);
    expect(unproved.code).toBe(0);
    expect(proved.waited).toBe(false);
    expect(proved.afterMs).toBeLessThan(unproved.afterMs / 2);
    expect(unproved.afterMs).toBeLessThan(3 * floor.programMs);
  });

  it("an interactive run and a program without conversations do not wait", async () => {
    const persona = installPersona("claude");
    putInFront(persona, `${SUSPEND}; exit 0`);
    const env = { ...persona.home.env };
    const interactive = await persona.home.perdure(["run", "w", "--", persona.facts.program], { env });
    expect(interactive.code).toBe(0);
    expect(hasWaited(persona)).toBe(false);
    process.kill(persona.home.daemonPid() ?? 0, "SIGCONT");
    await eventually("the end of the run", async () => (await persona.show("w")).run === null);

    const plain = installPersona("claude");
    await plain.home.perdure(["daemon", "start"]);
    const stop = `kill -STOP ${plain.home.daemonPid()}`;
    expect(await plain.home.perdure(["run", "plain", "--", "/bin/sh", "-c", stop])).toMatchObject({ code: 0 });
    expect(hasWaited(plain)).toBe(false);
    process.kill(plain.home.daemonPid() ?? 0, "SIGCONT");
  });

  /** Runs a headless program with this script in front, and measures from the last thing the program does. */
  async function timeOf(
    script: string,
  ): Promise<{ code: number; waited: boolean; programMs: number; afterMs: number }> {
    const persona = installPersona("claude");
    const [from, to] = [join(persona.home.dir, "from"), join(persona.home.dir, "to")];
    const [, body = "", exit = ""] = /^(.*); (exit \d)$/.exec(script) ?? [];
    putInFront(persona, `date +%s%N > '${from}'; ${body}; date +%s%N > '${to}'; ${exit}`);
    const { code } = await headless(persona, "hello");
    const endedMs = Date.now();
    // The daemon would remove what tells it.
    const waited = hasWaited(persona);
    process.kill(persona.home.daemonPid() ?? 0, "SIGCONT");
    const msOf = (file: string): number => Number(readFileSync(file, "utf8")) / 1e6;
    return { code, waited, programMs: msOf(to) - msOf(from), afterMs: endedMs - msOf(to) };
  }
});
