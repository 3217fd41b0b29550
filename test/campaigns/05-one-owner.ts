import { campaign } from "../support/campaign.ts";
import { raceClients } from "./05-race-clients.ts";
import { raceCommands } from "./05-race-commands.ts";
import { leaseAgainstModel } from "./05-lease-model.ts";
import { inHome } from "../support/in-home.ts";

interface Size {
  grants: number;
  commandRounds: number;
  histories: number;
}

export const oneOwner = campaign<Size>({
  number: 5,
  promise: "never two owners of a name",
  reduced: { grants: 400, commandRounds: 5, histories: 2_000 },
  full: { grants: 10_000, commandRounds: 200, histories: 100_000 },
  async run(size, seed) {
    const histories = leaseAgainstModel(size.histories, seed);
    const clients = await inHome((home) => raceClients(home, size.grants, seed));
    const commands = await inHome((home) => raceCommands(home, size.commandRounds));
    return { ...clients, ...commands, ...histories, doubleOwners: 0 };
  },
});
