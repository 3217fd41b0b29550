import { spawnSync } from "node:child_process";

/** Runs the contenders in turn, round after round, so that whatever else the machine does hits all alike. */
export function interleave(rounds: number, contenders: (() => void)[]): number[][] {
  const times = contenders.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      const startedAt = performance.now();
      contender();
      times[index]?.push(performance.now() - startedAt);
    }
  }
  return times;
}

export async function interleaveAsync(rounds: number, contenders: (() => Promise<void>)[]): Promise<number[][]> {
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
 * Several stretches of the same, and the times of the quietest: the one in which the first contender, the floor, was
 * fastest. Whatever else the machine does makes all of them slower, but those that compute more than the floor most.
 */
export async function quietest(
  stretches: number,
  rounds: number,
  contenders: (() => Promise<void>)[],
): Promise<number[][]> {
  let best: { floor: number; times: number[][] } = { floor: Number.POSITIVE_INFINITY, times: [] };
  for (let stretch = 0; stretch < stretches; stretch++) {
    const times = await interleaveAsync(rounds, contenders);
    const floor = percentile(times[0] ?? [], 0.9);
    if (floor < best.floor) best = { floor, times };
  }
  return best.times;
}

export function percentile(values: number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] ?? Number.NaN;
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
