import { rowsOfCase } from "./live-case.ts";
import type { Row } from "./report.ts";
import { milliseconds, percentile, spreadOfFew } from "./sampling.ts";

const GOAL = 1.15;

/**
 * From `perdure ask` to the answer of a worker without a process, beside the vendor's program started by hand in a conversation that
 * grows alike. With every vendor's real program that is installed, with a model on loopback.
 */
export function turns(): Promise<Row[]> {
  return rowsOfCase("dg", (vendor, figures) => {
    const bare = figures("bareMs");
    const [ours, floor] = [percentile(figures("turnMs"), 0.5), percentile(bare, 0.5)];
    return {
      what: `a turn, ${vendor}`,
      ours: milliseconds(ours),
      floor: `${milliseconds(floor)} by hand`,
      value: ours / floor,
      goal: GOAL,
      spread: spreadOfFew(bare),
    };
  });
}
