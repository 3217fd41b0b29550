import { whole } from "../support/check.ts";

const LIVES = ["prompted", "prompted", "prompted", "unprompted", "killed at its start", "misled"] as const;
const ACTS = ["none", "none", "new conversation", "nested agent"] as const;
const DEATHS = ["idle", "in a turn", "hanging"] as const;
const HARMS = ["none", "none", "emptied", "garbled", "cut short", "deleted"] as const;

/** The actions of one worker in one round, dealt before the round begins: a seed plays the same again, whoever is faster. */
export interface Plan {
  life: (typeof LIVES)[number];
  act: (typeof ACTS)[number];
  death: (typeof DEATHS)[number];
  harm: (typeof HARMS)[number];
  seed: number;
}

/** Deals every card once before any comes again: a short game has seen them all. */
export function planner(random: () => number): () => Plan {
  const lives = deck(random, LIVES);
  const acts = deck(random, ACTS);
  const deaths = deck(random, DEATHS);
  const harms = deck(random, HARMS);
  return () => ({ life: lives(), act: acts(), death: deaths(), harm: harms(), seed: whole(random, 2 ** 31) });
}

function deck<T>(random: () => number, cards: readonly T[]): () => T {
  let left: T[] = [];
  return () => {
    if (left.length === 0) left = [...cards];
    const [card] = left.splice(whole(random, left.length), 1);
    if (card === undefined) throw new Error("an empty deck");
    return card;
  };
}

export interface Tally {
  resumes: number;
  killedAtStart: number;
  killedUnprompted: number;
  killedInTurn: number;
  killedIdle: number;
  rotations: number;
  nestedRuns: number;
  /** Came up in another conversation, marked, and came back in their own. */
  misled: number;
  refusals: number;
  /** Lost, and put back from the copy that is kept. */
  fromCustody: number;
}

export function newTally(): Tally {
  return {
    resumes: 0,
    killedAtStart: 0,
    killedUnprompted: 0,
    killedInTurn: 0,
    killedIdle: 0,
    rotations: 0,
    nestedRuns: 0,
    misled: 0,
    refusals: 0,
    fromCustody: 0,
  };
}
