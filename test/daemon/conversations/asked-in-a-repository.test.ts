import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, it } from "vitest";
import { inHome } from "../../support/in-home.ts";

/** As opencode does: it runs the plugins of the folder it is asked in, unless it is told to load none. */
const PROGRAM = `#!/bin/sh
[ -n "$OPENCODE_PURE" ] && [ -n "$OPENCODE_DISABLE_PROJECT_CONFIG" ] || . ./.opencode/plugin.sh
case $1 in
session) echo '[]' ;;
*) echo "Session not found: $2" >&2; exit 1 ;;
esac
`;

it("a vendor's program that is asked what there is to adopt runs nothing of the repository", async () => {
  await inHome(async (home) => {
    const bin = join(home.dir, "bin");
    const ran = join(home.dir, "ran");
    mkdirSync(bin);
    mkdirSync(join(home.project, ".opencode"));
    writeFileSync(join(home.project, ".opencode", "plugin.sh"), `echo "$@" >> '${ran}'\n`);
    writeFileSync(join(bin, "opencode"), PROGRAM);
    chmodSync(join(bin, "opencode"), 0o755);
    const env = { ...home.env, PATH: [bin, home.env.PATH].join(delimiter) };

    for (const words of [
      ["adopt"],
      ["adopt", "--all"],
      ["adopt", "w", "--vendor", "opencode", "--conversation", "ses_1"],
    ])
      await home.perdure(words, { env });
    expect(existsSync(ran)).toBe(false);
  });
});
