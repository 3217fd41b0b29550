/** A campaign tries one promise: the same code, reduced in `npm test` and whole in `npm run torture`. */
export interface Campaign<Size> {
  number: number;
  promise: string;
  reduced: Size;
  full: Size;
  /** Throws at the first violation; returns the figures it measured. */
  run(size: Size, seed: number): Promise<Record<string, number>>;
}

/** Hides the size's type, so that campaigns of different sizes fit one list. */
export interface AnyCampaign {
  number: number;
  promise: string;
  play(how: "reduced" | "full", seed: number): Promise<Record<string, number>>;
}

export function campaign<Size>(definition: Campaign<Size>): AnyCampaign {
  const { number, promise } = definition;
  return { number, promise, play: (how, seed) => definition.run(definition[how], seed) };
}

/** A random number generator, in [0, 1): the same seed replays the same campaign. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
