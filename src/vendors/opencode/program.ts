import { MODEL_PROVIDER_VARIABLE } from "../shared/model-providers.ts";
import type { VendorEnvironment, VendorProgram } from "../shared/program.ts";

const opencodeEnvironment: VendorEnvironment = {
  recorded: [/^OPENCODE_[A-Z0-9_]+$/, MODEL_PROVIDER_VARIABLE],
  privateNames: ["OPENCODE", "OPENCODE_PID", "OPENCODE_RUN_ID", "OPENCODE_PROCESS_ROLE"],
};

export const opencodeProgram: VendorProgram = {
  vendor: "opencode",
  program: "opencode",
  chain: 1,
  package: "opencode-ai",
  environment: opencodeEnvironment,
};
