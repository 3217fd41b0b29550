import { MODEL_PROVIDER_VARIABLE } from "../shared/model-providers.ts";
import type { VendorEnvironment, VendorProgram } from "../shared/program.ts";

export const piProgram: VendorProgram = {
  vendor: "pi",
  program: "pi",
  chain: 1,
  package: "@earendil-works/pi-coding-agent",
};

export const piEnvironment: VendorEnvironment = {
  recorded: [/^PI_[A-Z0-9_]+$/, MODEL_PROVIDER_VARIABLE],
  // Every start sets these again, for the worker that it starts.
  session: [/^PI_INTERCOM_/],
  privateNames: [
    "AI_AGENT",
    "PI_CODING_AGENT",
    "PI_SESSION_ID",
    "PI_SESSION_FILE",
    "PI_PROVIDER",
    "PI_MODEL",
    "PI_REASONING_LEVEL",
  ],
};
