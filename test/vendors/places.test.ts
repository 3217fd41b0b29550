import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { UNRECORDED, VENDORS } from "./fixtures.ts";

test("every adapter has its fixtures", () => {
  expect(UNRECORDED).toEqual([]);
});

describe.each(VENDORS)("$vendor", ({ adapter, facts }) => {
  test.each(facts.config)("with $env its conversations are in $dir", ({ env, dir, variables }) => {
    expect(adapter.storage.configDirOf(env)).toEqual({ dir, variables });
  });

  test("the variables lead to the same folder again, from anywhere", () => {
    for (const { env, dir } of facts.config) {
      const { variables } = adapter.storage.configDirOf(env);
      const set = Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== null);
      const unset = Object.entries(variables).filter(([, value]) => value === null);
      const elsewhere = { HOME: "/home/w", ...Object.fromEntries(unset.map(([name]) => [name, undefined])) };
      expect(adapter.storage.configDirOf({ ...elsewhere, ...Object.fromEntries(set) }).dir).toBe(dir);
    }
  });

  test.each(facts.toolVariables)("%s does not reach a worker that was started by a tool", (name) => {
    expect(adapter.launch.privateEnv).toContain(name);
  });

  test("a sign of life is looked for where it appears", () => {
    const folder = facts.watchDir === null ? null : join("/home/u/.v", facts.watchDir);
    expect(adapter.liveness.watchDir("/home/u/.v")).toBe(folder);
  });
});

const ASSIGNED = VENDORS.flatMap(
  ({
    vendor,
    adapter: {
      launch: { identity },
    },
  }) => (identity.kind === "assigned" ? [{ vendor, choose: () => identity.choose() }] : []),
);

test.each(ASSIGNED)("$vendor: no two conversations get the same id", ({ choose }) => {
  expect(new Set(Array.from({ length: 100 }, choose)).size).toBe(100);
  expect(choose()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
