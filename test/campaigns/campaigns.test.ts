import { expect, it } from "vitest";
import { CAMPAIGNS } from "./index.ts";

/** The same every time, so that a red build can be played again; PERDURE_SEED tries another one. */
const seed = Number(process.env.PERDURE_SEED ?? 20_261_115);

for (const campaign of CAMPAIGNS) {
  const { number, promise } = campaign;
  it(`${number}. ${promise}`, { timeout: 120_000 }, async () => {
    const figures = await campaign.play("reduced", seed);
    expect(figures).not.toEqual({});
    process.stdout.write(`${JSON.stringify({ campaign: number, how: "reduced", seed, ...figures })}\n`);
  });
}
