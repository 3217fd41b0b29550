import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/** A command of another program's, in a text for a person, with a path or a name in it as it is. */
const UNQUOTED =
  /\b(?:ls -l\w*|ls -la|chmod [\w+-]+|chown \S+|mkdir -p|install -d[^`]*|ln -sf?|git -C|tmux -S) \$\{(?!shell|anyShell)/;

test("every command that a message names has its paths quoted, so that it can be copied where they have blanks", () => {
  const found = globSync("**/*.ts", { cwd: "src" }).flatMap((file) =>
    readFileSync(join("src", file), "utf8")
      .split("\n")
      .flatMap((line, at) => (UNQUOTED.test(line) ? [`${file}:${at + 1} ${line.trim()}`] : [])),
  );
  expect(found).toEqual([]);
});
