import { describe, expect, test } from "vitest";
import type { ProcessView } from "../../src/vendors/adapter.ts";
import { filled, folder, placeIn, put, VENDORS, type ProcessCase } from "./fixtures.ts";

describe.each(VENDORS)("$vendor", (vendor) => {
  const { adapter } = vendor;

  test.each(vendor.processes)("$what", async (given) => {
    const dir = folder();
    for (const [path, content] of Object.entries(given.files ?? {})) {
      put(dir, path, typeof content === "string" ? content : JSON.stringify(content));
    }
    const view = viewOf(given, dir);
    for (const [pid, signs] of Object.entries(given.inspect ?? {})) {
      const seen = adapter.liveness.inspect(dir, Number(pid), view);
      const shown = seen.map(({ session, means, activity, blocked, place }, at) => {
        const told = signs[at]?.place === undefined ? {} : { place };
        return { session, means, activity, blocked, ...told };
      });
      expect(shown).toEqual(signs.map((sign) => ({ means: "open", ...sign })));
      for (const { evidence } of seen) expect(evidence).toMatch(/\w/);
    }
    const holders = await adapter.liveness.holders(placeIn(dir, vendor), view);
    expect(new Set(holders.map(({ pid }) => pid))).toEqual(new Set(given.holders));
    expect(holders).toHaveLength(given.holders.length);
    for (const { evidence } of holders) expect(evidence).toMatch(/\w/);
  });
});

/** A machine on which only the processes of the case run. */
function viewOf(
  { running = {}, argv = {}, parents = {}, open = {}, locks = {} }: ProcessCase,
  config: string,
): ProcessView {
  const inConfig = (path: string): string => filled(path, { config });
  return {
    inspect: (pid) => {
      const startedAt = running[String(pid)];
      return startedAt === undefined ? null : { pid, parentPid: parents[String(pid)] ?? 1, startedAt };
    },
    openFiles: (pid) => (open[String(pid)] ?? []).map(inConfig),
    lockHolders: (file) => Promise.resolve(Object.entries(locks).find(([path]) => inConfig(path) === file)?.[1] ?? []),
    commandLines: () => Object.entries(argv).map(([pid, words]) => ({ pid: Number(pid), argv: words })),
  };
}
