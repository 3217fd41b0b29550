import { PerdureError } from "../../protocol/errors.ts";
import type { Command } from "../shared/command.ts";

export const extensionCommand: Command = {
  summary: "print the path of an extension for an agent's own program",
  usage: "VENDOR",
  details: [
    "A worker's program gets its extension at every start, by itself. Loaded by hand, into a program that perdure did not",
    "start, it tells the user how that program becomes a worker, by its command /perdure; in a worker it does nothing.",
  ].join("\n"),
  examples: ['pi -e "$(perdure extension pi)"', 'pi install "$(perdure extension pi)"'],
  words: [1, 1],

  async run({ words: [vendor = ""], out }) {
    const { ADAPTERS } = await import("../../vendors/index.ts");
    const path = ADAPTERS.find((each) => each.vendor === vendor)?.launch.extensionByHand;
    if (path === undefined) {
      const known = ADAPTERS.filter(({ launch }) => launch.extensionByHand !== undefined);
      throw new PerdureError("not-found", `There is no extension for ${JSON.stringify(vendor)}.`, {
        hint: known.map((each) => `perdure extension ${each.vendor}`).join(", "),
      });
    }
    out.result({ vendor, path }, () => path);
  },
};
