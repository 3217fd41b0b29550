import { expect, test } from "vitest";
import { isVendorService } from "../../src/vendors/agents.ts";

const CLAUDE = "/usr/lib/node_modules/@anthropic-ai/claude-code/bin/claude";

// The command lines are those of claude 2.1.325 after `/background`; the service has all background agents of its user.
test.each([
  [CLAUDE, "daemon", "run", "--origin", "transient", "--spawned-by", '{"label":"claude"}'],
  [
    "claude bg-pty-host",
    "--bg-pty-host",
    "/tmp/cc-daemon-0/fdb6d71e/spare/fcf73add.pty.sock",
    "200",
    "50",
    "--",
    CLAUDE,
  ],
  ["claude bg-spare", "--bg-spare", "/tmp/cc-daemon-0/fdb6d71e/spare/fcf73add.claim.sock"],
])("B6: claude's background service keeps no name: %s %s", (...argv) => {
  expect(isVendorService(argv)).toBe(true);
});
