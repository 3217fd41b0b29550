import { spawnSync } from "node:child_process";

/** Runs the contenders in turn, round after round, so that whatever else the machine does hits all alike. */
export function interleave(rounds: number, contenders: (() => void)[]): number[][] {
  const times = contenders.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, contender] of contenders.entries()) times[index]?.push(timed(contender));
  }
  return times;
}

export function timed(action: () => void): number {
  const startedAt = performance.now();
  action();
  return performance.now() - startedAt;
}

export async function interleaveAsync(rounds: number, contenders: (() => Promise<unknown>)[]): Promise<number[][]> {
  const times = contenders.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      const startedAt = performance.now();
      await contender();
      times[index]?.push(performance.now() - startedAt);
    }
  }
  return times;
}

/**
 * The same in several short stretches: whatever else the machine does makes all contenders slower, but most of all those that
 * compute the most, so a figure is taken from the quietest of them.
 */
export async function stretches(
  count: number,
  rounds: number,
  contenders: (() => Promise<unknown>)[],
): Promise<number[][][]> {
  const all: number[][][] = [];
  for (let stretch = 0; stretch < count; stretch++) all.push(await interleaveAsync(rounds, contenders));
  return all;
}

export function percentile(values: number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] ?? Number.NaN;
}

/** How far measurements lie apart: the 90th percentile in medians. */
export function spreadOf(values: number[]): number {
  return percentile(values, 0.9) / percentile(values, 0.5);
}

/** The same of a few measurements: the largest in smallest ones. */
export function spreadOfFew(values: number[]): number {
  return Math.max(...values) / Math.min(...values);
}

export function milliseconds(time: number): string {
  return `${time.toFixed(time < 10 ? 2 : 0)} ms`;
}

export function command(
  file: string,
  args: string[],
  options: { cwd: string; env: Record<string, string> },
): () => void {
  return () => {
    const { status, stderr } = spawnSync(file, args, { ...options, stdio: ["ignore", "ignore", "pipe"] });
    if (status !== 0) throw new Error(`${file} ${args.join(" ")} exited with ${status}: ${stderr.toString()}`);
  };
}
