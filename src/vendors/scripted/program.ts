import type { VendorEnvironment, VendorProgram } from "../shared/program.ts";

const scriptedEnvironment: VendorEnvironment = { recorded: [/^PERDURE_SCRIPTED_HOME$/], privateNames: [] };

/** The scripted agent is not on PATH unless somebody put it there, and nobody chooses it for work. */
export const scriptedProgram: VendorProgram = {
  vendor: "scripted",
  program: "scripted",
  chain: 1,
  package: null,
  environment: scriptedEnvironment,
};
