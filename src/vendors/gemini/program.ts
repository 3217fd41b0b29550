import type { VendorEnvironment, VendorProgram } from "../shared/program.ts";

/**
 * The variable `<overlay>:<the user's home>`: a process in the overlay finds back out of it, and a hook knows whose it
 * is.
 */
export const OVERLAY_MARK = "GEMINI_CLI_PERDURE_HOME";

const geminiEnvironment: VendorEnvironment = {
  recorded: [/^(GEMINI|GOOGLE)_[A-Z0-9_]+$/],
  privateNames: [
    "GEMINI_CLI",
    "GEMINI_CLI_NO_RELAUNCH",
    "GEMINI_SESSION_ID",
    "GEMINI_PROJECT_DIR",
    "GEMINI_CWD",
    "GEMINI_PLANS_DIR",
    OVERLAY_MARK,
  ],
};

export const geminiProgram: VendorProgram = {
  vendor: "gemini",
  program: "gemini",
  chain: 2,
  package: "@google/gemini-cli",
  environment: geminiEnvironment,
};
