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
  ["/usr/bin/codex", "app-server", "--listen", "unix:///home/u/.codex/app-server.sock"],
  ["node", "/usr/lib/node_modules/@openai/codex/bin/codex.js", "app-server", "--managed-daemon"],
])("B6: a vendor's background service keeps no name: %s %s %s", (...argv) => {
  expect(isVendorService(argv)).toBe(true);
});

test.each([
  [CLAUDE, "-p", "daemon run"],
  ["/usr/bin/codex", "--no-daemon", "app-server --listen"],
  ["/usr/bin/codex", "exec", "-"],
])("what a worker runs is no background service: %s %s %s", (...argv) => {
  expect(isVendorService(argv)).toBe(false);
});
