import type { VendorEnvironment, VendorProgram } from "../shared/program.ts";

/**
 * The variable that says which settings file a launch has set. Other workers do not inherit it, so it tells whose
 * process one is.
 */
export const SETTINGS_MARK = "QWEN_PERDURE_SETTINGS";

const qwenEnvironment: VendorEnvironment = {
  recorded: [/^(QWEN|DASHSCOPE|OPENAI)_[A-Z0-9_]+$/],
  privateNames: [
    "QWEN_CODE",
    "QWEN_CODE_AGENT_ID",
    "QWEN_CODE_CLI",
    "QWEN_CODE_LAUNCHER_PID",
    "QWEN_CODE_MANAGED_NPM_PIN",
    "QWEN_CODE_MANAGED_NPM_ROOT",
    "QWEN_CODE_MESSAGING_SOCKET",
    "QWEN_CODE_MESSAGING_TOKEN",
    "QWEN_CODE_MODEL",
    "QWEN_CODE_MODEL_IDENTITY",
    "QWEN_CODE_NO_RELAUNCH",
    "QWEN_CODE_PRIVATE_RELAUNCH_ENV_PROVENANCE",
    "QWEN_CODE_PROJECT_DIR",
    "QWEN_CODE_PROMPT_ID",
    "QWEN_CODE_SESSION_ID",
    "QWEN_CODE_STARTUP_VERSION",
    SETTINGS_MARK,
  ],
};

export const qwenProgram: VendorProgram = {
  vendor: "qwen",
  program: "qwen",
  chain: 3,
  package: "@qwen-code/qwen-code",
  scripts: ["cli.js", "cli-entry.js"],
  environment: qwenEnvironment,
};
