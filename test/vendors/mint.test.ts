import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { MINT_WAIT_MS } from "../../src/limits/index.ts";
import { processTable } from "../../src/runtime/process/index.ts";
import { mintThread } from "../../src/vendors/codex/app-server.ts";
import { codex } from "../../src/vendors/codex/index.ts";
import { SCRIPTED, ScriptedHome } from "../scripted/scripted-home.ts";
import { unasked } from "./fixtures.ts";
import { binFolder } from "../vendors-live/harness/pins.ts";

const MARK = "PERDURE_MINT_TEST";

let home: ScriptedHome;
let mark: string;
beforeEach(() => {
  home = new ScriptedHome("codex");
  mark = randomUUID();
});
afterEach(() => {
  vi.useRealTimers();
  for (const pid of left()) process.kill(pid, "SIGKILL");
  home.clear();
});

function mint(command: string[]): Promise<string> {
  const environment = {
    PATH: process.env.PATH ?? "/usr/bin:/bin",
    HOME: home.dir,
    PERDURE_SCRIPTED_PERSONA: "codex",
    [MARK]: mark,
  };
  return mintThread({ command, args: [], name: "coder", cwd: home.work, environment, from: null });
}

/** An app server in shell; its words are what it does with what it reads. */
function fake(script: string): Promise<string> {
  return mint(["/bin/sh", "-c", script]);
}

/** Processes that were started for the mint and still live. */
function left(): number[] {
  return processTable()
    .withVariable(MARK, mark)
    .map(({ pid }) => pid);
}

/** Gone as soon as the kernel has done it; a deadline far beyond any load only keeps a broken test from hanging. */
async function noneLeft(): Promise<boolean> {
  const deadline = performance.now() + 2_000;
  while (left().length > 0 && performance.now() < deadline) await turn();
  return left().length === 0;
}

const REFUSED = { code: "unavailable", message: expect.stringContaining("codex app-server could not open") as string };

test("every process of the app-server, and its lock, is gone when the id is known", async () => {
  for (let round = 0; round < 8; round++) {
    await mint([SCRIPTED]);
    // At once: the agent that is started next takes the same lock.
    expect(left()).toEqual([]);
  }
});

test("a conversation is opened and written down, and nothing keeps running", async () => {
  const id = await mint([SCRIPTED]);
  const place = { vendor: "codex", id, configDir: join(home.dir, ".codex"), launchCwd: home.work };
  expect(await codex.storage.probe(place, null, unasked)).toMatchObject({ state: "good", version: "0.166.0" });
  expect(await codex.liveness.holders(place, processTable())).toEqual([]);
  expect(await noneLeft()).toBe(true);
  const resumed = codex.launch.plan({
    step: "new",
    session: id,
    name: "coder",
    args: ["exec", "hi"],
    prompt: null,
    runDir: "/",
    cwd: "/",
    configDir: "/",
    transcript: null,
    from: null,
    declared: null,
  });
  expect(await home.run(resumed.args)).toMatchObject({ code: 0, stdout: "turns=1 first=hi last=hi\n" });
});

const REAL = join(binFolder("codex"), "codex");

test("the real codex does the same, cut off from the network", async ({ skip }) => {
  skip(!existsSync(REAL), "codex is not installed; npm run test:vendors installs it");
  const id = await mint(["unshare", process.getuid?.() === 0 ? "-n" : "-rn", REAL]);
  const place = { vendor: "codex", id, configDir: join(home.dir, ".codex"), launchCwd: home.work };
  expect(await codex.storage.probe(place, null, unasked)).toMatchObject({ state: "good", version: "0.166.0" });
  expect(await noneLeft()).toBe(true);
  expect(await codex.liveness.holders(place, processTable())).toEqual([]);
});

test.for(["workspace-write", "danger-full-access"])(
  "with %s the real codex does not save that its user trusts the folder",
  async (sandbox, { skip }) => {
    skip(!existsSync(REAL), "codex is not installed; npm run test:vendors installs it");
    const settings = join(home.dir, ".codex", "config.toml");
    for (const folder of [home.dir, home.work]) mkdirSync(join(folder, ".codex"), { recursive: true });
    writeFileSync(settings, `sandbox_mode = "${sandbox}"\n`);
    // Settings of the folder's own are what codex asks about.
    writeFileSync(join(home.work, ".codex", "config.toml"), 'model_reasoning_effort = "low"\n');
    await mint(["unshare", process.getuid?.() === 0 ? "-n" : "-rn", REAL]);
    expect(readFileSync(settings, "utf8")).toBe(`sandbox_mode = "${sandbox}"\n`);
  },
);

test("other messages before and between the answers are skipped", async () => {
  const talk = `read a; echo 'starting up'; echo '{"method":"warning"}'; echo '{"id":99,"result":{}}'; echo '{"id":1,"result":{}}'
    read a; read a; echo '{"id":2,"result":{"thread":{"id":"t-1"}}}'
    read a; echo '[]'; echo '{"id":3,"result":null}'; cat > /dev/null`;
  expect(await fake(talk)).toBe("t-1");
});

test.each([
  ["dies at once", "echo boom >&2; exit 3", "it ended with 3: boom"],
  ["dies in the middle", `read a; echo '{"id":1,"result":{}}'; exit 0`, "it ended with 0"],
  ["refuses", `read a; echo '{"id":1,"error":{"code":-32600,"message":"no"}}'; cat > /dev/null`, '"message":"no"'],
  [
    "answers without an id",
    `read a; echo '{"id":1,"result":{}}'; read a; read a; echo '{"id":2,"result":{"thread":{}}}'; cat > /dev/null`,
    "without an id",
  ],
  [
    "cannot write it down",
    `read a; echo '{"id":1,"result":{}}'; read a; read a; echo '{"id":2,"result":{"thread":{"id":"t"}}}'
     read a; echo '{"id":3,"error":{"message":"disk full"}}'; cat > /dev/null`,
    "disk full",
  ],
])("one that %s: the reason is said, and nothing keeps running", async (_what, script, why) => {
  await expect(fake(script)).rejects.toMatchObject(REFUSED);
  await expect(fake(script)).rejects.toThrow(why);
  expect(await noneLeft()).toBe(true);
});

test("an app-server that cannot be started is an error", async () => {
  await expect(mint([join(home.dir, "nowhere", "codex")])).rejects.toMatchObject(REFUSED);
});

test("an app-server that never answers is given up in time", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const ends: unknown[] = [];
  const minted = fake("cat > /dev/null").catch((error: unknown) => ends.push(error));
  vi.advanceTimersByTime(MINT_WAIT_MS - 1);
  await turn();
  expect(ends).toEqual([]);
  vi.advanceTimersByTime(1);
  await minted;
  expect(ends).toMatchObject([{ ...REFUSED, message: expect.stringContaining(`${MINT_WAIT_MS} ms`) as string }]);
  expect(await noneLeft()).toBe(true);
});

test("behind a launcher nothing keeps running either, even if it takes its time to leave", async () => {
  const slow = `read a; echo '{"id":1,"result":{}}'; read a; read a; echo '{"id":2,"result":{"thread":{"id":"t-1"}}}'
    read a; echo '{"id":3,"result":{}}'; exec sleep 600`;
  // As npm's launchers do: the program is a child with the same standard input and output.
  const launcher = `const { spawn } = require("node:child_process");
    spawn("/bin/sh", ["-c", ${JSON.stringify(slow)}], { stdio: "inherit" });`;
  expect(await mint([process.execPath, "-e", launcher])).toBe("t-1");
  expect(await noneLeft()).toBe(true);
});
