import assert from "node:assert/strict";
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { LiveSetup } from "./setup.ts";

/** Notes all settings of the user's; returns a function that fails if one was changed, added or removed since. */
export function keepSettings(setup: LiveSetup): () => void {
  const before = settingsOf(setup);
  assert.ok(before.size > 0, "there are settings");
  return () => assert.deepEqual(settingsOf(setup), before, "the user's settings are as they were");
}

function settingsOf({ home: { dir }, traits: { ownServers } }: LiveSetup): Map<string, unknown> {
  const { settings, within = {} } = ownServers;
  const files = globSync([...settings], { cwd: dir }).toSorted();
  const found = files.filter((file) => statSync(join(dir, file)).isFile());
  return new Map(
    found.map((file) => {
      const text = readFileSync(join(dir, file), "utf8");
      return [file, within[file]?.(text) ?? text];
    }),
  );
}
