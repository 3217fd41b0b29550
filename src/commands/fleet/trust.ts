import { readDropsOnly, readFleet } from "../../project/fleet/read.ts";
import type { Command } from "../shared/command.ts";
import { ensureTrust } from "../shared/launch/ensure-trust.ts";
import { requireFleet } from "../shared/launch/fleet-entries.ts";
import { findProjectHere, projectRefHere } from "../shared/here.ts";
import { printable } from "../shared/output.ts";

export const trust: Command = {
  summary: "allow what this project's perdure.toml runs",
  usage: "[--yes]",
  details: [
    "A fleet file runs commands, and repositories come from other people: nothing in it runs before you have agreed to its",
    "content, once. After any change, one of your own, too, you are shown what changed and asked again. Values of env are",
    "never shown.",
  ].join("\n"),
  examples: ["perdure trust", "perdure trust --yes"],
  options: { yes: { short: "y", about: "agree without being asked, in a script: you have read the file" } },
  words: [0, 0],

  async run({ values, out }) {
    const found = findProjectHere();
    const fleet =
      readFleet(found) === null ? (readDropsOnly(found) ?? (await requireFleet(found))) : await requireFleet(found);
    await ensureTrust(fleet, projectRefHere(found), values.yes === true, out);
    out.result({ file: fleet.file, trusted: true, workers: fleet.workers.map(({ name }) => name) }, () => {
      return printable(`${fleet.file} is now trusted`);
    });
  },
};
