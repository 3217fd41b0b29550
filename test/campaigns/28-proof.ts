import { campaign, seeded } from "../support/campaign.ts";
import { inHome } from "../support/in-home.ts";
import { InstalledPersona } from "../support/persona.ts";
import type { Vendor } from "../support/persona-facts.ts";
import { FrontedWorker, dealer, newTally } from "./28-fronted-worker.ts";
import { playLiveCases } from "./support/live-cases.ts";

interface Size {
  /** Starts of the personas, all together. */
  rounds: number;
  /** The vendors' real programs are played, too, where they are installed. */
  real: boolean;
}

/** The one that echoes its command line comes first. */
const VENDORS: readonly Vendor[] = ["claude", "codex", "scripted"];

const NOBODY = { vendors: [], notes: [] };

export const proofIsProof = campaign<Size>({
  number: 28,
  promise: "a proof is a proof",
  reduced: { rounds: 36, real: false },
  full: { rounds: 400, real: true },
  async run({ rounds, real }, seed) {
    const tally = newTally();
    const each = Math.ceil(rounds / VENDORS.length);
    await playAtOnce(VENDORS, async (vendor, index, isOver) => {
      await inHome(async (home) => {
        const deal = dealer(seeded(seed + index));
        const worker = await FrontedWorker.begin(new InstalledPersona(home, vendor), tally);
        for (let round = 0; round < each && !isOver(); round++) await worker.play(round, deal());
      });
    });
    const { vendors, notes } = real ? await playLiveCases(28, "aa,ab", { withDatabases: false }) : NOBODY;
    const programs = { realVendors: vendors.length, realStarts: notes.length };
    return { personas: VENDORS.length, ...tally, ...programs, falseProofs: 0, carriedOn: 0 };
  },
});

/** The personas, each in a home of its own: most of a round is waiting. At the first violation the others leave off, too. */
async function playAtOnce(
  vendors: readonly Vendor[],
  play: (vendor: Vendor, index: number, isOver: () => boolean) => Promise<void>,
): Promise<void> {
  const violations: unknown[] = [];
  const isOver = (): boolean => violations.length > 0;
  const plays = vendors.map((vendor, index) =>
    play(vendor, index, isOver).catch((why: unknown) => violations.push(why)),
  );
  await Promise.all(plays);
  if (isOver()) throw violations[0];
}
