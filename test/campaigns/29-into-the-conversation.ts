import { campaign, seeded } from "../support/campaign.ts";
import { playFleet } from "./29-fleet-under-fire.ts";
import { playWakeBound } from "./29-wake-bound.ts";
import { playLiveCases } from "./support/live-cases.ts";

interface Size {
  workers: number;
  messages: number;
  kills: number;
  /** The vendors' real programs are played, too, where they are installed: five hundred messages among them. */
  real: boolean;
}

export const intoTheConversation = campaign<Size>({
  number: 29,
  promise: "a message enters the conversation",
  reduced: { workers: 3, messages: 60, kills: 10, real: false },
  full: { workers: 20, messages: 9_500, kills: 400, real: true },
  async run({ real, ...size }, seed) {
    const figures = await playFleet(size, seeded(seed));
    await playWakeBound();
    const { notes } = real ? await playLiveCases(29, "bq", { withDatabases: true }) : { notes: [] };
    return { ...figures, realVendors: notes.length, ...sums(notes), missing: 0 };
  },
});

/** Adds up what the case noted with each vendor: `realMessages=102 realKills=8`. */
function sums(notes: readonly string[]): Record<string, number> {
  const all: Record<string, number> = { realMessages: 0, realKills: 0, realAgain: 0 };
  for (const note of notes) {
    for (const [, what = "", count] of note.matchAll(/(\w+)=(\d+)/g)) all[what] = (all[what] ?? 0) + Number(count);
  }
  return all;
}
