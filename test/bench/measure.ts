import { Home } from "../support/home.ts";
import { SPREAD_HIGH, shareOfGoal, verdictOf, type Row } from "./report.ts";

/** Figures that are taken together, in a home of their own. */
export interface Group {
  name: string;
  run: (home: Home) => Promise<Row[]>;
  /** The group is left out unless it is named. */
  onlyByName?: true;
}

const TRIES_MAX = 3;

/**
 * Measures a group; once more, and again, while a figure failed and its floor says that the machine was busy. Of several
 * measurements the best one counts: others' work can only make it worse.
 */
export async function measure({ run }: Group): Promise<Row[]> {
  let best = await inHome(run);
  for (let tries = 1; tries < TRIES_MAX && best.some(isDoubtful); tries++) {
    const again = await inHome(run);
    let other: Row[] = [];
    best = best.map((row, at) => {
      // What is the least is of the same measurement as what it is the least of.
      const better = row.isLeast && other.length > 0 ? other[at] : betterOf(row, again[at]);
      other = better === row ? best : again;
      return better ?? row;
    });
  }
  return best;
}

async function inHome(run: Group["run"]): Promise<Row[]> {
  const home = new Home();
  try {
    return await run(home);
  } finally {
    await home.clear();
  }
}

function isDoubtful(row: Row): boolean {
  return verdictOf(row) === "FAILED" && row.spread > SPREAD_HIGH;
}

function betterOf(one: Row, other: Row | undefined): Row {
  return other !== undefined && shareOfGoal(other) < shareOfGoal(one) ? other : one;
}
