import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { adapterOf } from "../../src/vendors/index.ts";
import type { RecordingOff } from "../../src/vendors/shared/recording.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "perdure-recording-"));
  mkdirSync(join(home, "api", "sub"), { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true }));

interface Start {
  args?: string[];
  cwd?: string;
  env?: Record<string, string>;
  files?: Record<string, unknown>;
}

function unrecordedBy(vendor: string, { args = [], cwd = "api", env = {}, files = {} }: Start): RecordingOff | null {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), typeof content === "string" ? content : JSON.stringify(content));
  }
  const environment = Object.fromEntries(
    Object.entries({ HOME: home, ...env }).map(([key, value]) => [key, value.replace("~", home)]),
  );
  const adapter = adapterOf(vendor);
  const configDir = adapter?.storage.configDirOf(environment).dir ?? "";
  return (
    adapter?.storage.unrecordedBy?.({ args, cwd: join(home, cwd), configDir, environment, etc: join(home, "etc") }) ??
    null
  );
}

const SKIP = "CLAUDE_CODE_SKIP_PROMPT_HISTORY";
const skip = (value: unknown): object => ({ env: { [SKIP]: value } });
const record = (value: unknown): object => ({ general: { chatRecording: value } });

/** As a repository may carry them: deeper than a parser that calls itself has stack for. */
function deeplyNested(variable: string): string {
  return `{"env":{"${variable}":"1"},"x":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
}

/** Ways to turn recording off, as seen with the real programs; the place is a file in the home, or the words for it. */
const OFF: [string, string, Start, string][] = [
  ["claude", "the variable", { env: { [SKIP]: "1" } }, "the environment"],
  ["claude", "the variable as a word", { env: { [SKIP]: "TRUE" } }, "the environment"],
  ["claude", "the user's settings", { files: { ".claude/settings.json": skip("1") } }, ".claude/settings.json"],
  [
    "claude",
    "settings nested deeply",
    { files: { ".claude/settings.json": deeplyNested(SKIP) } },
    ".claude/settings.json",
  ],
  ["claude", "a number in settings", { files: { ".claude/settings.json": skip(1) } }, ".claude/settings.json"],
  [
    "claude",
    "settings over the variable",
    { env: { [SKIP]: "0" }, files: { ".claude/settings.json": skip("1") } },
    ".claude/settings.json",
  ],
  [
    "claude",
    "the project's settings",
    { files: { "api/.claude/settings.json": skip("1") } },
    "api/.claude/settings.json",
  ],
  [
    "claude",
    "local settings",
    { files: { "api/.claude/settings.local.json": skip("1") } },
    "api/.claude/settings.local.json",
  ],
  ["claude", "--settings with a text", { args: ["--settings", JSON.stringify(skip("1"))] }, "--settings"],
  [
    "claude",
    "--settings with a file",
    { args: ["--settings=../own.json"], files: { "own.json": skip("1") } },
    "own.json",
  ],
  [
    "claude",
    "another config dir",
    { env: { CLAUDE_CONFIG_DIR: "~/x" }, files: { "x/settings.json": skip("1") } },
    "x/settings.json",
  ],
  [
    "claude",
    "the administrator's settings",
    { files: { "etc/claude-code/managed-settings.json": skip("1"), ".claude/settings.json": skip("0") } },
    "etc/claude-code/managed-settings.json",
  ],
  [
    "claude",
    "the last of the administrator's settings",
    {
      args: ["--setting-sources", "user", "--settings", JSON.stringify(skip("0"))],
      files: {
        "etc/claude-code/managed-settings.json": skip("0"),
        "etc/claude-code/managed-settings.d/10-a.json": skip("0"),
        "etc/claude-code/managed-settings.d/20-b.json": skip("1"),
        "etc/claude-code/managed-settings.d/.30-c.json": skip("0"),
      },
    },
    "etc/claude-code/managed-settings.d/20-b.json",
  ],
  ["qwen", "the user's settings", { files: { ".qwen/settings.json": record(false) } }, ".qwen/settings.json"],
  [
    "qwen",
    "settings with comments",
    { files: { ".qwen/settings.json": `// mine\n${JSON.stringify(record(false))}` } },
    ".qwen/settings.json",
  ],
  [
    "qwen",
    "the project's settings",
    { files: { "api/.qwen/settings.json": record(false) } },
    "api/.qwen/settings.json",
  ],
  [
    "qwen",
    "the administrator's",
    { env: { QWEN_CODE_SYSTEM_SETTINGS_PATH: "~/sys.json" }, files: { "sys.json": record(false) } },
    "sys.json",
  ],
  [
    "codex",
    "a setting of the command line",
    { args: ["exec", "-c", 'experimental_thread_store={type="in_memory",id="x"}'] },
    "the command",
  ],
  [
    "codex",
    "its own settings",
    { files: { ".codex/config.toml": '[experimental_thread_store]\ntype = "in_memory"\nid = "x"\n' } },
    ".codex/config.toml",
  ],
  [
    "codex",
    "a profile",
    {
      args: ["-p", "p"],
      files: { ".codex/p.config.toml": 'experimental_thread_store = {type = "in_memory", id = "x"}\n' },
    },
    ".codex/p.config.toml",
  ],
  [
    "codex",
    "the project's settings",
    {
      files: {
        "api/.codex/config.toml": 'experimental_thread_store = {type = "in_memory", id = "x"}\n',
        ".codex/config.toml": 'experimental_thread_store = {type = "local"}\n',
      },
    },
    "api/.codex/config.toml",
  ],
  [
    "codex",
    "the machine's settings",
    { files: { "etc/codex/config.toml": 'experimental_thread_store = {type = "in_memory", id = "x"}\n' } },
    "etc/codex/config.toml",
  ],
  [
    "codex",
    "the administrator's settings",
    {
      args: ["exec", "-c", 'experimental_thread_store={type="local"}'],
      files: { "etc/codex/managed_config.toml": 'experimental_thread_store = {type = "in_memory", id = "x"}\n' },
    },
    "etc/codex/managed_config.toml",
  ],
  ["opencode", "a database in memory", { env: { OPENCODE_DB: ":memory:" } }, "the environment"],
];

/** Starts that are recorded, though they look as if they were not. */
const ON: [string, string, Start][] = [
  ["claude", "nothing", {}],
  ["claude", "the variable turned off", { env: { [SKIP]: "0" } }],
  ["claude", "the variable empty", { env: { [SKIP]: "" } }],
  ["claude", "a value that is no yes", { env: { [SKIP]: "x" } }],
  [
    "claude",
    "settings that take the variable back",
    { env: { [SKIP]: "1" }, files: { ".claude/settings.json": skip("0") } },
  ],
  [
    "claude",
    "a project that takes the user's back",
    { files: { ".claude/settings.json": skip("1"), "api/.claude/settings.json": skip("0") } },
  ],
  [
    "claude",
    "settings that are not in use",
    { args: ["--setting-sources", "project"], files: { ".claude/settings.json": skip("1") } },
  ],
  ["claude", "the settings of a folder above", { cwd: "api/sub", files: { "api/.claude/settings.json": skip("1") } }],
  ["claude", "settings that cannot be read", { files: { ".claude/settings.json": "{" } }],
  [
    "claude",
    "an administrator that takes the user's back",
    { files: { "etc/claude-code/managed-settings.json": skip("0"), ".claude/settings.json": skip("1") } },
  ],
  ["qwen", "nothing", {}],
  ["qwen", "a text in settings", { files: { ".qwen/settings.json": record("false") } }],
  ["qwen", "the name of another version", { files: { ".qwen/settings.json": { chatRecording: false } } }],
  [
    "qwen",
    "a project that turns it on",
    { files: { ".qwen/settings.json": record(false), "api/.qwen/settings.json": record(true) } },
  ],
  ["qwen", "the option", { args: ["--chat-recording"], files: { ".qwen/settings.json": record(false) } }],
  ["qwen", "no settings in use", { args: ["--bare"], files: { ".qwen/settings.json": record(false) } }],
  ["codex", "a history of prompts that is not kept", { args: ["-c", "history.persistence=none"] }],
  ["opencode", "a database elsewhere", { env: { OPENCODE_DB: "other.db" } }],
];

describe("A3: recording is off by", () => {
  it.each(OFF)("%s: %s", (vendor, _what, start, place) => {
    const found = unrecordedBy(vendor, start);
    expect(found?.place.replace(`${home}/`, "")).toBe(place);
    expect(found?.setting).toMatch(/1|TRUE|false|memory/);
  });
});

describe("A3: recording stays on with", () => {
  it.each(ON)("%s: %s", (vendor, _what, start) => {
    expect(unrecordedBy(vendor, start)).toBeNull();
  });
});

it("A3: claude's local settings count in the folders of their repository", () => {
  execFileSync("git", ["init", "-q"], { cwd: join(home, "api") });
  const files = { "api/.claude/settings.local.json": skip("1") };
  expect(unrecordedBy("claude", { cwd: "api/sub", files })?.place).toBe(join(home, "api/.claude/settings.local.json"));
});

it("A3: settings that are no regular file are not waited for", () => {
  mkdirSync(join(home, ".claude"));
  execFileSync("mkfifo", [join(home, ".claude/settings.json")]);
  expect(unrecordedBy("claude", {})).toBeNull();
});

describe("A3: refused before the start is", () => {
  it.each([
    ["claude", "--resume-session-at", ["-p", "--resume-session-at", "x", "hi"]],
    ["claude", "--resume-drops-turn", ["-p", "--resume-drops-turn", "x", "hi"]],
    ["claude", "--rewind-files", ["--rewind-files", "x"]],
    ["claude", "--environment", ["--environment", "x"]],
    ["claude", "--remote", ["--remote"]],
    ["claude", "--await-claim", ["-p", "--await-claim"]],
    ["qwen", "--chat-recording=false", ["--chat-recording=false", "hi"]],
    ["qwen", "--chat-recording=false", ["--chat-recording", "false", "hi"]],
    ["qwen", "--chat-recording=false", ["--chatRecording=0", "hi"]],
    ["qwen", "--no-chat-recording", ["--no-chatRecording", "hi"]],
    ["qwen", "--session-id", ["--sessionId", "x", "hi"]],
    ["gemini", "--session-id", ["--sessionId=x"]],
    ["gemini", "--session-file", ["--sessionFile", "x"]],
    ["codex", "--worktree", ["exec", "--worktree", "hi"]],
    ["codex", "--ephemeral", ["exec", "--ephemeral", "hi"]],
    ["copilot", "--worktree", ["--worktree", "x"]],
    ["pi", "--no-session", ["--no-session", "hi"]],
  ])("%s: %s", (vendor, option, args) => {
    expect(adapterOf(vendor)?.launch.readArgs(args).conflict?.split(": ")[0]).toBe(option);
  });

  it.each([
    ["qwen", ["--chat-recording", "hi"]],
    ["qwen", ["--chat-recording=true", "hi"]],
    ["claude", ["-p", "say --resume-session-at x"]],
  ])("not %s: %j", (vendor, args) => {
    expect(adapterOf(vendor)?.launch.readArgs(args).conflict).toBeNull();
  });
});
