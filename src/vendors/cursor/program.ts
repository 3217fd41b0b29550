import type { VendorEnvironment, VendorProgram } from "../shared/program.ts";

export const cursorProgram: VendorProgram = { vendor: "cursor", program: "cursor-agent", chain: 2, package: null };

export const cursorEnvironment: VendorEnvironment = {
  recorded: [/^CURSOR_[A-Z0-9_]+$/],
  privateNames: ["CURSOR_AGENT", "CURSOR_TRACE_ID"],
};
