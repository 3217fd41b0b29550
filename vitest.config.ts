import { relative } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { SkipReasons } from "./test/support/skip-reasons.ts";

/** The files that take longest, in that order. Begun last, one of them would run alone while the other workers have nothing left. */
const LONGEST = [
  "test/campaigns/campaigns.test.ts",
  "test/daemon/custody/custody.test.ts",
  "test/daemon/launch/same-decision.test.ts",
  "test/daemon/fleet/interference.test.ts",
  "test/daemon/conversations/rotation.test.ts",
  "test/daemon/launch/config-dir.test.ts",
];

/** Begins with the longest files; the others follow as vitest orders them, by their size where it has not seen them run. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.indexOf(relative(import.meta.dirname, moduleId));
      return at < 0 ? LONGEST.length : at;
    };
    // oxlint-disable-next-line no-array-sort -- not an array's
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Real daemons, terminals and kills: a test waits for one of them nearly half of its time, so two cores carry three files.
    pool: "forks",
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    reporters: ["default", new SkipReasons()],
    testTimeout: 60_000,
    hookTimeout: 30_000,
  },
});
