import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Talk } from "../support/talk.ts";
import type { Home } from "../support/home.ts";
import { check, eventually, within } from "../support/check.ts";
import { InstalledPersona, readBanner } from "../support/persona.ts";
import { ClaimProxy } from "../support/claim-proxy.ts";

/** Starts two `run` of one worker at the same moment, from one folder, from two, from two worktrees. */
export async function raceRuns(home: Home, rounds: number): Promise<Record<string, number>> {
  const race = await setUp(home);
  const tally = { raceRounds: rounds, claimsTogether: 0, raceRefusals: 0, twoOnOneConversation: 0 };
  try {
    for (let round = 0; round < rounds; round++) {
      // Every other round both claims are held until both are there: nothing can be closer together.
      const times = new ClaimTimes(race.proxy, round % 2 === 0);
      await raceOnce(race, round);
      if (times.overlapped) tally.claimsTogether++;
      tally.raceRefusals++;
    }
  } finally {
    race.proxy.close();
  }
  check(tally.claimsTogether >= rounds / 2, `only ${tally.claimsTogether} of ${rounds} claims overlapped`);
  return tally;
}

interface Race {
  persona: InstalledPersona;
  proxy: ClaimProxy;
  id: string;
  folders: readonly (readonly [string, string])[];
}

async function setUp(home: Home): Promise<Race> {
  const persona = new InstalledPersona(home, "claude");
  home.git(["init", "-q"]);
  home.git(["commit", "-q", "--allow-empty", "-m", "first"]);
  const [trees, below] = [[1, 2].map((n) => join(home.dir, `tree${n}`)), join(home.project, "below")];
  for (const tree of trees) home.git(["worktree", "add", "-q", tree]);
  mkdirSync(below);
  const talk = await persona.begin("coder");
  await talk.say("the secret");
  const { session } = await home.json<{ session: { id: string } }>(["show", "coder"]);
  await talk.end();
  const [one = "", two = ""] = trees;
  const folders = [
    [home.project, home.project],
    [home.project, below],
    [one, two],
  ] as const;
  return { persona, proxy: await ClaimProxy.open(home), id: session.id, folders };
}

/** Records when the two claims of a round were asked, and when they were answered. */
class ClaimTimes {
  readonly #asked: number[] = [];
  readonly #answered: number[] = [];

  constructor(proxy: ClaimProxy, together: boolean) {
    let release = (): void => undefined;
    const both = new Promise<void>((resolve) => (release = resolve));
    proxy.claims = {
      onRequest: async () => {
        this.#asked.push(performance.now());
        if (this.#asked.length === 2) release();
        if (together) await both;
      },
      onAnswer: async () => {
        this.#answered.push(performance.now());
        return "pass";
      },
    };
  }

  /** The second was asked before the first was answered. */
  get overlapped(): boolean {
    return Math.max(...this.#asked) < Math.min(...this.#answered);
  }
}

async function raceOnce({ persona, proxy, id, folders }: Race, round: number): Promise<void> {
  const startsBefore = persona.starts().length;
  const rivals = (folders[round % folders.length] ?? []).map((cwd) =>
    persona.run("coder", [], { cwd, env: proxy.env }),
  );
  const greetings = await within(`two runs (round ${round})`, Promise.all(rivals.map(greetingOf)));
  const told = (): string => `round ${round}: ${JSON.stringify(greetings)}`;
  const winner = greetings.findIndex(({ banner }) => banner !== null);
  const [won, lost] = [greetings[winner], greetings[1 - winner]];
  check(won?.banner != null && lost?.banner === null, told);
  check(lost.end?.code === 4 && lost.end.stdout === "" && lost.end.stderr.includes("held by run"), told);
  check(won.banner.session === id && won.banner.turns === round + 1, told);

  const answer = await won.talk.say(`round ${round}`);
  check(answer === `turns=${round + 2} first=the secret last=round ${round}`, () => `${told()} ${answer}`);
  const starts = persona.starts().slice(startsBefore);
  check(starts.length === 1 && persona.facts.resumedIn(starts[0]?.args ?? []) === id, () => JSON.stringify(starts));
  const holders = persona.holders(id);
  check(holders.length === 1 && holders[0] === starts[0]?.pid, () => `${holders.join(" ")} are in ${id}`);
  if (round % 2 === 0) await persona.kill("coder", won.talk);
  else await won.talk.end();
  await eventually("nobody to be in the conversation", () => persona.holders(id).length === 0);
}

interface Greeting {
  talk: Talk;
  banner: ReturnType<typeof readBanner> | null;
  end: Awaited<Talk["ended"]> | null;
}

/** The first output of a rival, or how it ended without any. */
async function greetingOf(talk: Talk): Promise<Greeting> {
  const first = await Promise.race([talk.answer().catch(() => null), talk.ended.then(() => null)]);
  if (first === null) return { talk, banner: null, end: await talk.ended };
  return { talk, banner: readBanner(first), end: null };
}
