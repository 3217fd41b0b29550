import type { VendorEnvironment, VendorProgram } from "../shared/program.ts";

const cursorEnvironment: VendorEnvironment = {
  recorded: [/^CURSOR_[A-Z0-9_]+$/],
  privateNames: ["CURSOR_AGENT", "CURSOR_TRACE_ID"],
};

export const cursorProgram: VendorProgram = {
  vendor: "cursor",
  program: "cursor-agent",
  unproved: "written from its documentation, never run",
  chain: 2,
  package: null,
  environment: cursorEnvironment,
};
