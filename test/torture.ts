import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { CAMPAIGNS } from "./campaigns/index.ts";
import type { AnyCampaign } from "./support/campaign.ts";

// npm run torture -- [--only 5,6] [--seed N] [--reduced]

const SEEDS = 2 ** 31;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: "string" }, seed: { type: "string" }, reduced: { type: "boolean" } },
  });
  const how = values.reduced ? "reduced" : "full";
  const seed = values.seed === undefined ? randomInt(SEEDS) : Number(values.seed);
  const only = values.only?.split(",").map(Number);
  const chosen = CAMPAIGNS.filter(({ number }) => only?.includes(number) ?? true);
  let failed = 0;
  for (const campaign of chosen) if (!(await playOne(campaign, how, seed))) failed++;
  process.stdout.write(`${chosen.length - failed} passed, ${failed} failed\n`);
  if (failed > 0 || chosen.length === 0) process.exitCode = 1;
}

async function playOne(campaign: AnyCampaign, how: "reduced" | "full", seed: number): Promise<boolean> {
  const { number, promise } = campaign;
  const startedAt = performance.now();
  try {
    const figures = await campaign.play(how, seed);
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    process.stdout.write(`${JSON.stringify({ campaign: number, how, seed, seconds, ...figures })}\n`);
    return true;
  } catch (error) {
    const replay = `npm run torture -- --only ${number} --seed ${seed}${how === "reduced" ? " --reduced" : ""}`;
    process.stdout.write(
      `${JSON.stringify({ campaign: number, how, seed, promise, violation: String(error), replay })}\n`,
    );
    process.stderr.write(
      `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\nreplay: ${replay}\n`,
    );
    return false;
  }
}

await main();
