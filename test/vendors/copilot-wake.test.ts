import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { WakePlace } from "../../src/vendors/delivery.ts";
import { copilot } from "../../src/vendors/copilot/index.ts";
import type { LaunchPlan } from "../../src/vendors/launch-plan.ts";
import { until } from "../terminal/tmux.ts";
import { folder, put } from "./fixtures.ts";

// What these tests wait for is that the time is over; how long it is, is not their business.
vi.mock(import("../../src/limits/index.ts"), async (original) => ({ ...(await original()), WAKE_SOCKET_MS: 2_000 }));

const FLAGS = "COPILOT_CLI_ENABLED_FEATURE_FLAGS";
const EXTENSION = "plugin/extensions/perdure/extension.mjs";

interface Places {
  runDir: string;
  configDir: string;
  cwd: string;
}

function places(): Places {
  const dir = folder();
  const made = { runDir: join(dir, "run"), configDir: join(dir, "home"), cwd: join(dir, "work") };
  for (const each of Object.values(made)) mkdirSync(each);
  mkdirSync(join(made.cwd, ".git"));
  return made;
}

function plan(where: Places, args: string[] = [], environment: Record<string, string> = {}): LaunchPlan {
  const none = { prompt: null, transcript: null, from: null, declared: null };
  return copilot.launch.plan({ step: "new", session: "s", name: "coder", args, environment, ...none, ...where });
}

function isWaking({ files }: LaunchPlan): boolean {
  return files.some(({ name }) => name === EXTENSION);
}

describe("the extension that wakes copilot", () => {
  test("comes with the flag it needs, and without the tools that the flag brings", () => {
    const planned = plan(places());
    expect(isWaking(planned)).toBe(true);
    expect(planned.variables).toMatchObject({ [FLAGS]: "EXTENSIONS" });
    expect(planned.args.find((word) => word.startsWith("--excluded-tools="))).toContain("extensions_manage");
  });

  test("keeps the user's own flags, which a worker below it gets back", () => {
    const { variables = {} } = plan(places(), [], { [FLAGS]: "WORKTREE" });
    expect(variables[FLAGS]).toBe("WORKTREE,EXTENSIONS");
    const below = Object.fromEntries(
      Object.entries(variables).filter((entry): entry is [string, string] => !!entry[1]),
    );
    expect(copilot.launch.restoredEnv?.(below)).toEqual({ [FLAGS]: "WORKTREE" });
    expect(plan(places(), [], below).variables?.[FLAGS]).toBe("WORKTREE,EXTENSIONS");
  });

  test("leaves a user alone who has turned extensions on", () => {
    const planned = plan(places(), [], { [FLAGS]: "EXTENSIONS" });
    expect(isWaking(planned)).toBe(true);
    expect(planned.variables).toEqual({});
    expect(planned.args.join(" ")).not.toContain("--excluded-tools");
  });

  test("is not there without a terminal", () => {
    const planned = plan(places(), ["-p", "hi"]);
    expect([isWaking(planned), planned.variables]).toEqual([false, {}]);
  });

  test.each([
    ["of the repository", ({ cwd }: Places) => join(cwd, ".github/extensions")],
    ["of the user", ({ configDir }: Places) => join(configDir, "extensions")],
    ["that an installed plugin may bring", ({ configDir }: Places) => join(configDir, "installed-plugins/x")],
  ])("would start an extension %s, too, and is not there", (_whose, at) => {
    const where = places();
    mkdirSync(at(where), { recursive: true });
    expect([isWaking(plan(where)), plan(where).variables]).toEqual([false, {}]);
  });

  test("would start an extension of the user's plugin folder, too, and is not there", () => {
    const where = places();
    mkdirSync(join(where.cwd, "own/extensions"), { recursive: true });
    expect(isWaking(plan(where, ["--plugin-dir", "own"]))).toBe(false);
    expect(isWaking(plan(where, ["--plugin-dir=own"]))).toBe(false);
  });

  test("sends what is left for its own conversation, once, and nothing else", async () => {
    const where = places();
    const sent = start(where, "s-1");
    const place = placeOf(where, "s-1");
    await until("the extension", () => (copilot.delivery?.wake?.isOpen?.(place) ? true : null));
    expect(copilot.delivery?.wake?.isOpen?.(placeOf(where, "s-2"))).toBe(false);
    expect(await copilot.delivery?.wake?.wake("hello", place, "m")).toBe(true);
    await until("the text", () => (existsSync(sent) ? true : null));
    expect(await copilot.delivery?.wake?.wake("for another", placeOf(where, "s-2"), "m")).toBe(false);
    expect(readFileSync(sent, "utf8")).toBe('{"prompt":"hello"}\n');
  });
});

test("a text that nobody takes is taken back", async () => {
  const where = places();
  expect(await copilot.delivery?.wake?.wake("hello", placeOf(where, "s-1"), "m")).toBe(false);
  expect(existsSync(join(where.runDir, "wake.json"))).toBe(false);
});

function placeOf({ runDir, configDir, cwd }: Places, session: string): WakePlace {
  const ask = (): Promise<never> => Promise.reject(new Error("not asked"));
  return { runDir, configDir, cwd, session, pid: null, args: [], program: () => null, ask };
}

/** Runs the extension as copilot does, with a stand-in for its library; returns the file with what was sent. */
function start(where: Places, session: string): string {
  const sent = join(where.cwd, "sent");
  for (const { name, text } of plan(where).files) put(where.runDir, name, text);
  const library = join(where.runDir, "node_modules/@github/copilot-sdk");
  mkdirSync(library, { recursive: true });
  const script = `import { appendFileSync } from "node:fs";
    export const joinSession = async () => ({
      sessionId: ${JSON.stringify(session)},
      send: async (message) => appendFileSync(${JSON.stringify(sent)}, JSON.stringify(message) + "\\n"),
    });`;
  writeFileSync(join(library, "extension.mjs"), script);
  writeFileSync(join(library, "package.json"), JSON.stringify({ exports: { "./extension": "./extension.mjs" } }));
  const child: ChildProcess = spawn(process.execPath, [join(where.runDir, EXTENSION)], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  return sent;
}
