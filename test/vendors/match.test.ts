import { realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { matchCommand } from "../../src/vendors/match.ts";
import { folder, put } from "./fixtures.ts";

const MODULES = "/usr/local/lib/node_modules";

const MATCHES: [command: string, vendor: string, programAt: number][] = [
  ["claude", "claude", 0],
  ["claude -p hi", "claude", 0],
  ["/opt/bin/claude", "claude", 0],
  ["../bin/codex exec hi", "codex", 0],
  ["perdure-scripted", "scripted", 0],
  ["/opt/perdure/bin/perdure-scripted.js -p hi", "scripted", 0],
  ["npx claude", "claude", 1],
  ["npx -y @openai/codex@0.166.0 exec hi", "codex", 2],
  ["npx --yes @anthropic-ai/claude-code@latest", "claude", 2],
  ["npx -p @openai/codex codex", "codex", 3],
  ["npx --package=@openai/codex -- codex", "codex", 3],
  ["npm exec -- claude", "claude", 3],
  ["npm x -- @openai/codex", "codex", 3],
  ["pnpm dlx @openai/codex", "codex", 2],
  ["pnpm exec claude", "claude", 2],
  ["yarn dlx @openai/codex", "codex", 2],
  ["bunx claude", "claude", 1],
  ["bun x codex", "codex", 2],
  ["env A=1 claude", "claude", 2],
  ["env -i -u B A=1 C= claude", "claude", 6],
  ["nice -n 5 codex", "codex", 3],
  ["nohup nice claude", "claude", 2],
  ["env A=1 nice -n 5 npx -y @openai/codex", "codex", 7],
  ["mise exec -- claude", "claude", 3],
  ["mise x node@24 -- codex exec -- hi", "codex", 4],
  ["op run --env-file=.env -- claude", "claude", 4],
  ["mise exec -- npx claude", "claude", 4],
  [`node ${MODULES}/@openai/codex/bin/codex.js exec hi`, "codex", 1],
  [`/usr/bin/node ${MODULES}/@anthropic-ai/claude-code/cli.js`, "claude", 1],
  // npm takes what stands before a `--` for its own: what is for the program follows it.
  ["npm exec claude -- -p hi", "claude", 3],
];

test.each(MATCHES)("%s is %s's", (command, vendor, programAt) => {
  expect(matchCommand(command.split(" "), null)).toEqual({ vendor, programAt });
});

const OTHERS = [
  "echo claude",
  "vim claude",
  "cat /opt/bin/claude",
  "./claude-notes.sh",
  "claude-monitor",
  "git commit -m claude",
  "npx cowsay claude",
  "npm run claude",
  "npm install @openai/codex",
  "docker run claude",
  "make -C codex",
  "node server.js claude",
  "node -e claude",
  "sh -c claude",
  "bash -lc claude",
  "env",
  "env A=claude",
  "npx",
  "nice -n claude make",
  "vim -- claude",
  "git log -- codex",
];

test.each(OTHERS)("%s is nobody's", (command) => {
  expect(matchCommand(command.split(" "), null)).toBeNull();
});

test("nothing, and a word with spaces, are nobody's", () => {
  expect(matchCommand([], null)).toBeNull();
  expect(matchCommand(["sh", "-c", "claude -p hi"], null)).toBeNull();
  expect(matchCommand(["claude -p hi"], null)).toBeNull();
});

test.each([
  ["/usr/bin/claude", "claude"],
  [`${MODULES}/@openai/codex/bin/codex.js`, "codex"],
  [`${MODULES}/@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex`, "codex"],
  ["/home/u/.local/share/claude/versions/2.1.325", "claude"],
])("a link to %s is %s's", (file, vendor) => {
  expect(matchCommand(["cc", "hi"], file)).toEqual({ vendor, programAt: 0 });
});

test.each(["/usr/bin/vim", "/home/u/claude/run.sh", "/home/u/bin/claude-notes.sh", "/home/u/codex/bin/notes"])(
  "a link to %s is nobody's",
  (file) => {
    expect(matchCommand(["cc", "claude"], file)).toBeNull();
  },
);

test("a real link is followed to the vendor's program", () => {
  const dir = folder();
  put(dir, "lib/claude", "#!/bin/sh\n");
  symlinkSync("lib/claude", join(dir, "cc"));
  expect(matchCommand([join(dir, "cc")], realpathSync(join(dir, "cc")))).toEqual({ vendor: "claude", programAt: 0 });
});
