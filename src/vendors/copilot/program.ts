import type { VendorEnvironment, VendorProgram } from "../shared/program.ts";

/** The variable with the flags that the user has set, in a process that got one more from us. */
export const FLAGS_MARK = "COPILOT_PERDURE_USER_FLAGS";

const copilotEnvironment: VendorEnvironment = {
  recorded: [/^COPILOT_[A-Z0-9_]+$/, /^(GH_TOKEN|GITHUB_TOKEN)$/],
  privateNames: [
    "COPILOT_AGENT_SESSION_ID",
    "COPILOT_LOADER_PID",
    "COPILOT_PROJECT_DIR",
    "COPILOT_CLI",
    "COPILOT_CLI_BINARY_VERSION",
    "COPILOT_CLI_RESOLVED_DIST_DIR",
    FLAGS_MARK,
  ],
};

export const copilotProgram: VendorProgram = {
  vendor: "copilot",
  program: "copilot",
  chain: 2,
  package: "@github/copilot",
  environment: copilotEnvironment,
};

/** The variable that turns on parts of copilot, by their names with commas between them. */
export const FLAGS = "COPILOT_CLI_ENABLED_FEATURE_FLAGS";
