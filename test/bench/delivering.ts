import { rowsOfCase } from "./live-case.ts";
import type { Row } from "./report.ts";
import { milliseconds, percentile, spreadOfFew } from "./sampling.ts";

/**
 * From `perdure send` to the request that tells the model, beside what the program itself takes from a person's Enter to its request. With
 * every vendor's real program that is installed, in a terminal, idle, with a model on loopback.
 */
export function deliveries(): Promise<Row[]> {
  return rowsOfCase("br", (vendor, figures) => {
    const typed = figures("typedMs");
    const [ours, floor] = [percentile(figures("mailedMs"), 0.5), percentile(typed, 0.5)];
    return {
      what: `send, until it is in the model's request, ${vendor}`,
      ours: milliseconds(ours),
      floor: `${milliseconds(floor)} from Enter`,
      value: ours / floor,
      goal: null,
      spread: spreadOfFew(typed),
    };
  });
}
