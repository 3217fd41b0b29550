import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { environmentToRecord } from "../../src/launch/recorded-environment.ts";
import { ADAPTERS } from "../../src/vendors/index.ts";
import { VENDOR_PROGRAMS, vendorNames } from "../../src/vendors/programs.ts";
import { scriptedProgram } from "../../src/vendors/scripted/program.ts";
import type { VendorEnvironment } from "../../src/vendors/shared/program.ts";
import { UNRECORDED, VENDORS } from "./fixtures.ts";

test("every adapter has its fixtures", () => {
  expect(UNRECORDED).toEqual([]);
});

test("every folder of a vendor is in both tables", () => {
  const folders = readdirSync("src/vendors", { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const vendors = folders.map(({ name }) => name).filter((name) => name !== "shared");
  expect(ADAPTERS.map(({ vendor }) => vendor).toSorted()).toEqual(vendors.toSorted());
  // A custom program is called whatever its user calls it, and the scripted one is nobody's choice.
  const found = [...VENDOR_PROGRAMS.map(({ vendor }) => vendor), "custom", "scripted"];
  expect(found.toSorted()).toEqual(vendors.toSorted());
  expect(vendorNames().toSorted()).toEqual(vendors.toSorted());
});

function environmentOf(vendor: string): VendorEnvironment {
  const program = [...VENDOR_PROGRAMS, scriptedProgram].find((each) => each.vendor === vendor);
  if (!program) throw new Error(`${vendor} has no program`);
  return program.environment;
}

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

  test("the variables that lead to its folder are recorded for later starts", () => {
    const named = Object.assign({}, ...facts.config.map(({ env }) => env)) as Record<string, string>;
    expect(known(named)).toEqual(named);
  });

  test.each(facts.recordedVariables)("%s is recorded for later starts, by its own adapter", (name) => {
    expect(environmentOf(adapter.vendor).recorded.some((pattern) => pattern.test(name))).toBe(true);
    expect(known({ [name]: "x" })).toEqual({ [name]: "x" });
  });

  test.each(facts.toolVariables)("%s does not reach a worker that was started by a tool", (name) => {
    expect(environmentOf(adapter.vendor).privateNames).toContain(name);
  });

  test("a new conversation is written where that can be looked at before", () => {
    const path = adapter.storage.writesTo?.({ configDir: "/home/u/.v", launchCwd: "/home/u/api" }) ?? null;
    expect(path).toBe(facts.writesTo === null ? null : join("/home/u/.v", facts.writesTo));
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

/** The variables that are recorded whoever calls. */
function known(env: Record<string, string>): Record<string, string> {
  return environmentToRecord(env, { keep: "known", names: [], atTerminal: false }).environment;
}
