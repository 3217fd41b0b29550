import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { ADAPTERS, type Adapter } from "../../src/vendors/index.ts";
import type { LaunchPlan } from "../../src/vendors/launch-plan.ts";
import { put } from "./fixtures.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const WITHOUT_TOOLS = ["cursor", "custom", "scripted"];
const WITH_TOOLS = ADAPTERS.filter(({ launch }) => launch.withTools !== undefined);

test("the tools come with every vendor that was seen to take them", () => {
  const without = ADAPTERS.filter(({ launch }) => launch.withTools === undefined);
  expect(without.map(({ vendor }) => vendor).toSorted()).toEqual(WITHOUT_TOOLS);
});

describe.each(WITH_TOOLS.map((adapter) => [adapter.vendor, adapter] as const))("%s", (_vendor, adapter) => {
  test("a start tells of the bridge, of no token and of no port", () => {
    const told = JSON.stringify(planned(adapter));
    expect(told).toContain("bin/perdure.js");
    expect(told).toContain("mcp");
    expect(told).not.toContain("s3cret");
    expect(told).not.toMatch(/https?:/);
  });

  test("all that the start was planned with stays", () => {
    const { plan, tools } = both(adapter);
    expect(tools.args.slice(-plan.args.length)).toEqual(plan.args);
    expect(tools.files.map(({ name }) => name)).toEqual(expect.arrayContaining(plan.files.map(({ name }) => name)));
    expect(tools.variables ?? {}).toMatchObject(plan.variables ?? {});
    // An option that takes all words up to the next one must not take the plan's.
    expect(tools.args[tools.args.length - plan.args.length]).toMatch(/^-/);
  });
});

test("gemini's own servers of the user stay, and are no more trusted than before", () => {
  const home = mkdtempSync(join(tmpdir(), "perdure-tools-"));
  folders.push(home);
  const mine = { command: "mine", trust: false };
  put(home, ".gemini/settings.json", JSON.stringify({ mcpServers: { mine } }));
  const { files } = planned(named("gemini"), { configDir: home });
  const settings = JSON.parse(files.find(({ name }) => name === ".gemini/settings.json")?.text ?? "") as object;
  expect(settings).toMatchObject({ mcpServers: { mine, perdure: { trust: true } } });
});

test("opencode's own settings of the user in the same variable stay", () => {
  const mine = { theme: "dark", mcp: { mine: { type: "local", command: ["mine"] } } };
  const environment = { OPENCODE_CONFIG_CONTENT: `// mine\n${JSON.stringify(mine)}` };
  const { variables } = planned(named("opencode"), { environment });
  const settings = JSON.parse(variables?.OPENCODE_CONFIG_CONTENT ?? "") as object;
  expect(settings).toMatchObject({ ...mine, mcp: { ...mine.mcp, perdure: { type: "local" } } });
});

// Where a user has a server for all folders, or a repository one for everybody, in the vendor's own form.
const PLACES: readonly (readonly [vendor: string, file: string, key: string])[] = [
  ["claude", ".claude.json", "mcpServers"],
  ["claude", "v/.claude.json", "mcpServers"],
  ["claude", "api/.mcp.json", "mcpServers"],
  ["codex", "v/config.toml", "mcp_servers"],
  ["codex", "v/work.config.toml", "mcp_servers"],
  ["codex", "api/.codex/config.toml", "mcp_servers"],
  ["gemini", "v/.gemini/settings.json", "mcpServers"],
  ["gemini", "v/.gemini/extensions/x/gemini-extension.json", "mcpServers"],
  ["gemini", "api/.gemini/settings.json", "mcpServers"],
  ["copilot", "v/mcp-config.json", "mcpServers"],
  ["copilot", "api/.github/mcp.json", "mcpServers"],
  ["copilot", "api/.mcp.json", "mcpServers"],
  ["pi", "v/mcp.json", "mcpServers"],
  ["pi", "api/.pi/mcp.json", "mcpServers"],
  ["qwen", "v/settings.json", "mcpServers"],
  ["qwen", "api/.qwen/settings.json", "mcpServers"],
  ["qwen", "api/.mcp.json", "mcpServers"],
  ["opencode", ".config/opencode/opencode.json", "mcp"],
  ["opencode", "api/opencode.jsonc", "mcp"],
];

test.each(PLACES)("%s: a server of the user's in %s has its name, and ours takes another", (vendor, file, key) => {
  const home = mkdtempSync(join(tmpdir(), "perdure-tools-"));
  folders.push(home);
  const more = { cwd: join(home, "api"), configDir: join(home, "v"), environment: { HOME: home } };
  const write = (name: string): string =>
    put(
      home,
      file,
      file.endsWith(".toml") ? `[${key}.${name}]\ncommand = "x"\n` : JSON.stringify({ [key]: { [name]: {} } }),
    );
  write("perdures");
  expect(serverOf(planned(named(vendor), more))).toBe("perdure");
  write("perdure");
  expect(serverOf(planned(named(vendor), more))).toBe("perdure2");
});

test.each([
  ["claude", ["--mcp-config", '{"mcpServers":{"Perdure":{}}}']],
  ["claude", ['--mcp-config={"mcpServers":{"perdure":{}}}']],
  ["copilot", ["--additional-mcp-config", '{"mcpServers":{"perdure":{}}}']],
  ["codex", ["-c", 'mcp_servers.perdure.command="x"']],
])("%s: a server of the name on the command line (%j) stays, too", (vendor, args) => {
  expect(serverOf(planned(named(vendor), { args }))).toBe("perdure2");
});

/** The name that the plan gives the server whose command is our bridge. */
function serverOf(plan: LaunchPlan): string | undefined {
  const told = JSON.stringify(plan).replaceAll(/\\+n? */g, "");
  return /(perdure\d*)[^a-z]{1,6}(?:type|command|\{command)[^{}]*bin\/perdure\.js/.exec(told)?.[1];
}

test.each([
  ["claude", "mcp__perdure__send,mcp__perdure__ask,mcp__perdure__reply"],
  ["copilot", "--allow-tool=perdure"],
])("%s allows our tools beforehand, and no others", (vendor, allowed) => {
  const { args } = planned(named(vendor));
  const said = args.filter((word) => /allow|^mcp__/i.test(word)).join(" ");
  expect(said).toContain(allowed);
  expect(said.replaceAll(/--allowedTools|mcp__perdure__\w+|--allow-tool=perdure|[ ,]/g, "")).toBe("");
});

function named(vendor: string): Adapter {
  const adapter = ADAPTERS.find((each) => each.vendor === vendor);
  if (!adapter) throw new Error(`no adapter of ${vendor}`);
  return adapter;
}

function both(adapter: Adapter, more: Readonly<Record<string, unknown>> = {}): { plan: LaunchPlan; tools: LaunchPlan } {
  const request = {
    step: "new" as const,
    session: "11111111-1111-4111-8111-111111111111",
    name: "coder",
    args: [],
    prompt: null,
    transcript: null,
    from: null,
    declared: null,
    runDir: "/run",
    cwd: "/",
    configDir: "/home/u/.v",
    environment: { PERDURE_TOKEN: "s3cret" },
    ...more,
  };
  const plan = adapter.launch.plan(request);
  return { plan, tools: adapter.launch.withTools?.(plan, request) ?? plan };
}

function planned(adapter: Adapter, more: Readonly<Record<string, unknown>> = {}): LaunchPlan {
  return both(adapter, more).tools;
}
