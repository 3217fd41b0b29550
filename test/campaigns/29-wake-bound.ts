import type { WorkerSummary } from "../../src/protocol/records/worker.ts";
import { check, eventually } from "../support/check.ts";
import { FleetHome } from "../support/fleet-home.ts";
import { BIN } from "../support/home.ts";
import { InstalledPersona } from "../support/persona.ts";

/** Two agents that answer everything stop at the bound, and a person learns of it. */
export async function playWakeBound(): Promise<void> {
  const fleet = new FleetHome(`project = "api"
[defaults]
vendor = "claude"
args = ["--script", "answers-mail ${BIN}"]
[workers.ping]
[workers.pong]
`);
  try {
    const persona = new InstalledPersona(fleet, "claude");
    await fleet.up();
    await fleet.untilIdle();
    await fleet.perdure(["send", "ping", "begin [[write pong]]"]);
    let held: WorkerSummary | undefined;
    await eventually("the chain to stop", async () => {
      held = (await fleet.workers()).find(({ state }) => state === "on-hold");
      return held !== undefined;
    }).catch(async (error: unknown) => {
      const { stdout } = await fleet.perdure(["events", "--json"]);
      throw new Error(`${String(error)}: ${stdout}`, { cause: error });
    });
    check(held?.attention?.includes("in a row") === true, `on hold without its reason: ${held?.attention}`);
    const [told] = await persona.events("mail.held");
    check(told !== undefined, "nobody was told");
    check(told.data.uid === undefined, () => `told of one message: ${JSON.stringify(told)}`);
    await fleet.down();
  } finally {
    await fleet.clear();
  }
}
