import { spawn } from "node:child_process";
import { once } from "node:events";
import { check, percentile } from "../../support/check.ts";

/**
 * How long an empty Node takes from its start to its end, taken beside what a campaign measures. A daemon that takes long is
 * judged by that: a bound in milliseconds would judge the machine, and whatever else it does.
 */
export class StartFloor {
  readonly #tookMs: number[] = [];

  async sample(): Promise<void> {
    const startedAt = performance.now();
    await once(spawn(process.execPath, ["-e", "0"], { stdio: "ignore" }), "exit");
    this.#tookMs.push(performance.now() - startedAt);
  }

  /** Fails if a time is longer than so many starts of an empty Node at the same percentile. */
  judge(what: string, tookMs: readonly number[], share: number, floorsMax: number): void {
    const [ours, floor] = [percentile(tookMs, share), percentile(this.#tookMs, share)];
    check(
      ours <= floorsMax * floor,
      `${what} took ${ours} ms, more than ${floorsMax} starts of an empty Node (${floor} ms)`,
    );
  }

  get medianMs(): number {
    return percentile(this.#tookMs, 0.5);
  }
}
