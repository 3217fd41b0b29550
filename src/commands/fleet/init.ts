import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { PerdureError } from "../../protocol/errors.ts";
import { CONFIG_FILE, fleetRoot } from "../../project/find.ts";
import { findProgram } from "../../runtime/find-program.ts";
import { isErrno } from "../../state/files.ts";
import { VENDOR_PROGRAMS } from "../../vendors/programs.ts";
import type { Command } from "../shared/command.ts";
import { findProjectHere } from "../shared/here.ts";
import { printable } from "../shared/output.ts";
import { fleetTemplate } from "./init-template.ts";

export const init: Command = {
  summary: "write a commented perdure.toml for this project",
  usage: "",
  details: [
    "The file goes to the root of the project's main tree, with a fleet of the agents found on PATH and examples. An",
    "existing file is never overwritten.",
  ].join("\n"),
  examples: ["perdure init"],
  words: [0, 0],

  async run({ out }) {
    const found = findProjectHere();
    const file = join(fleetRoot(found), CONFIG_FILE);
    const vendors = VENDOR_PROGRAMS.filter(({ program }) => "file" in findProgram(program, process.env.PATH, "/")).map(
      ({ vendor }) => vendor,
    );
    try {
      writeFileSync(file, fleetTemplate(found.base, vendors), { flag: "wx" });
    } catch (error) {
      if (!isErrno(error, "EEXIST")) throw error;
      throw new PerdureError("conflict", `${file} already exists; it was not changed.`, { hint: `edit ${file}` });
    }
    out.result({ file, project: found.base, vendors }, () => printable(`wrote ${file}`));
    out.note(
      vendors.length > 0
        ? `Agents found on PATH: ${vendors.join(", ")}`
        : "No agents found on PATH: the file uses the built-in one. Next: perdure up",
    );
  },
};
