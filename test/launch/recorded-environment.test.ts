import { expect, test } from "vitest";
import { ENVIRONMENT_BYTES_MAX } from "../../src/limits/index.ts";
import { environmentToRecord, type RecordingRules } from "../../src/launch/recorded-environment.ts";

const KNOWN = {
  PATH: "/bin",
  HOME: "/h",
  LC_ALL: "C",
  https_proxy: "p",
  ANTHROPIC_API_KEY: "k",
  PI_CODING_AGENT_DIR: "d",
  PI_INTERCOM_SCOPE_ID: "p",
};
const OTHERS = { ACME_KEY: "a", OTEL_EXPORTER_OTLP_ENDPOINT: "o", AWS_PROFILE_X: "x", lower: "l", PGPASSWORD: "pg" };
const IDENTITY = {
  PERDURE_RUN: "r",
  PERDURE_TOKEN: "t",
  PERDURE_NAME: "n",
  AI_AGENT_ID: "r",
  PI_INTERCOM_SESSION_NAME: "n",
  PI_INTERCOM_STABLE_ID: "p/n",
};
/** Variables that the shell, the terminal, the login, a parent or a repository leaves in an environment. */
const OF_ONE_PLACE =
  `PWD OLDPWD SHLVL _ TMUX TMUX_PANE TMUX_TMPDIR STY TERM_PROGRAM TERM_PROGRAM_VERSION VSCODE_GIT_IPC_HANDLE
  SSH_CONNECTION SSH_CLIENT SSH_TTY XDG_SESSION_ID XDG_SESSION_TYPE INVOCATION_ID JOURNAL_STREAM NOTIFY_SOCKET LISTEN_FDS
  LISTEN_PID npm_config_registry npm_lifecycle_event INIT_CWD MAKEFLAGS GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE PERDURE_HOME PERDURE_DEBUG
  CLAUDECODE CLAUDE_CODE_SESSION_ID CODEX_THREAD_ID QWEN_CODE_SESSION_ID SUDO_COMMAND SUDO_USER WINDOWID GPG_TTY
  SSH_AGENT_PID DIRENV_DIFF KITTY_WINDOW_ID`.split(/\s+/);
const PLACES = Object.fromEntries(OF_ONE_PLACE.map((name) => [name, "here"]));

const ALL = { ...KNOWN, ...OTHERS, ...IDENTITY, ...PLACES };

const record = (
  rules: Partial<RecordingRules> = {},
  env: Record<string, string> = ALL,
): ReturnType<typeof environmentToRecord> =>
  environmentToRecord(env, { keep: "all", names: [], atTerminal: true, ...rules });

test("a person's environment is recorded whole, but for what speaks of one place", () => {
  const env = { ...ALL, GEMINI_CLI: "1" };
  expect(record({}, env)).toEqual({ environment: { ...KNOWN, ...OTHERS }, scope: "whole", unreadable: [] });
});

test("of any other caller, known variables are recorded, and those that a file names", () => {
  const rules = { atTerminal: false, names: ["ACME_KEY", "PERDURE_TOKEN"] };
  expect(record(rules)).toEqual({ environment: { ...KNOWN, ACME_KEY: "a" }, scope: "known", unreadable: [] });
});

test("a person can have less recorded", () => {
  expect(record({ keep: "known" })).toEqual({ environment: KNOWN, scope: "chosen", unreadable: [] });
  const basic = { PATH: "/bin", HOME: "/h", LC_ALL: "C" };
  expect(record({ keep: "none", names: ["ACME_KEY"] })).toEqual({
    environment: basic,
    scope: "chosen",
    unreadable: [],
  });
});

test("a name is taken away whoever added it, and however it is known", () => {
  const { ACME_KEY: _acme, ...others } = OTHERS;
  const { ANTHROPIC_API_KEY: _key, ...known } = KNOWN;
  const names = ["!ACME_KEY", "!ANTHROPIC_API_KEY", "ACME_KEY"];
  expect(record({ names }).environment).toEqual({ ...known, ...others });
  expect(record({ names, keep: "known" }).environment).toEqual(known);
});

test("a value is kept to the letter, and one that is no text is not, and is named", () => {
  const env = {
    HOME: "/h",
    LINES_OF: "a\n\tb 'c' \"d\" $e",
    EMPTY: "",
    BYTES: "caf\uFFFD",
    "odd-name": "x",
    "BASH_FUNC_f%%": "() { :; }",
  };
  const { HOME, LINES_OF, EMPTY } = env;
  expect(record({}, env)).toEqual({ environment: { HOME, LINES_OF, EMPTY }, scope: "whole", unreadable: ["BYTES"] });
});

test("of telemetry's attributes the user's are recorded, and no run's", () => {
  const env = { OTEL_RESOURCE_ATTRIBUTES: "team=a,perdure.worker=api/coder,perdure.run=h.api.coder.1" };
  expect(record({}, env).environment).toEqual({ OTEL_RESOURCE_ATTRIBUTES: "team=a" });
  expect(record({}, { OTEL_RESOURCE_ATTRIBUTES: "perdure.run=r" }).environment).toEqual({});
});

test("one that is too large is refused with the way out, and its value is not repeated", () => {
  const huge = { HOME: "/h", HUGE: "x".repeat(ENVIRONMENT_BYTES_MAX) };
  expect(() => record({}, huge)).toThrow(
    /^The environment to record has \d+ bytes; the limit is \d+\. HUGE alone has \d+\.$/,
  );
  expect(record({ names: ["!HUGE"] }, huge).environment).toEqual({ HOME: "/h" });
});
