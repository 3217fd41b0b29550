import type { ChildProcess } from "node:child_process";
import { finish, type Finished, type Home } from "../support/home.ts";
import { check, within } from "../support/check.ts";

const RIVALS = 8;
/** Says that it owns the name, notes whether somebody else does too, and stays until its stdin ends. */
const OWNER = "mkdir held || echo overlap; echo owner; read -r line; rmdir held";

/** Eight command lines at once want the same name: one starts, seven are told who has it. */
export async function raceCommands(home: Home, rounds: number): Promise<Record<string, number>> {
  for (let round = 0; round < rounds; round++) await raceOnce(home, round);
  const { runs } = await home.json<{ runs: { generation: number }[] }>([
    "history",
    "coder",
    "--limit",
    String(rounds + 1),
  ]);
  check(runs.length === rounds, `${runs.length} runs recorded in ${rounds} rounds`);
  check(
    runs.every(({ generation }, index) => index === 0 || generation < (runs[index - 1]?.generation ?? 0)),
    "generations do not rise strictly",
  );
  return { commandRounds: rounds, commandsRefused: rounds * (RIVALS - 1) };
}

async function raceOnce(home: Home, round: number): Promise<void> {
  const options = { stdio: ["pipe", "pipe", "pipe"] as "pipe"[] };
  const rivals = Array.from({ length: RIVALS }, () => home.spawn(["run", "coder", "--", "sh", "-c", OWNER], options));
  const ends = await within("eight rivals to end", Promise.all(waitForAll(rivals)));
  const winners = ends.filter(({ code }) => code === 0);
  const losers = ends.filter(({ code }) => code === 4);
  const told = (): string => `round ${round}: ${JSON.stringify(ends)}`;
  check(winners.length === 1 && losers.length === RIVALS - 1, told);
  check(winners[0]?.stdout === "owner\n", told);
  check(
    losers.every(({ stdout, stderr }) => stdout === "" && stderr.includes("held by run")),
    told,
  );
}

/** The owner is let go once the others have ended; two owners are let go too, and found by what they printed. */
function waitForAll(rivals: ChildProcess[]): Promise<Finished>[] {
  let owners = 0;
  let losers = 0;
  const letGoWhenSettled = (): void => {
    if (owners + losers >= RIVALS) for (const rival of rivals) rival.stdin?.end();
  };
  return rivals.map(async (rival) => {
    let owns = false;
    rival.stdout?.on("data", (chunk: Buffer | string) => {
      if (!String(chunk).includes("owner")) return;
      owns = true;
      owners++;
      letGoWhenSettled();
    });
    const end = await finish(rival);
    if (!owns) losers++;
    letGoWhenSettled();
    return end;
  });
}
