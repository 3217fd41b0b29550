import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { PerdureError } from "../protocol/errors.ts";
import { CONFIG_FILE } from "../project/find.ts";
import { findProgram } from "../runtime/find-program.ts";
import { isErrno } from "../state/files.ts";
import { VENDOR_PROGRAMS } from "../vendors/programs.ts";
import type { Command } from "./command.ts";
import { foundHere } from "./here.ts";
import { printable } from "./output.ts";

export const init: Command = {
  summary: "write a commented perdure.toml for this project",
  usage: "",
  details: "At the project's root, with the agents found on PATH. Never overwrites.",
  examples: ["perdure init"],
  words: [0, 0],

  async run({ out }) {
    const found = foundHere();
    const file = join(found.here, CONFIG_FILE);
    const vendors = VENDOR_PROGRAMS.filter(({ program }) => "file" in findProgram(program, process.env.PATH, "/")).map(
      ({ vendor }) => vendor,
    );
    try {
      writeFileSync(file, template(found.base, vendors), { flag: "wx" });
    } catch (error) {
      if (!isErrno(error, "EEXIST")) throw error;
      throw new PerdureError("conflict", `${file} exists already; it was not changed.`, { hint: `edit ${file}` });
    }
    out.result({ file, project: found.base, vendors }, () => printable(`wrote ${file}`));
    out.note(
      vendors.length > 0
        ? `Agents found on PATH: ${vendors.join(", ")}`
        : "No agents found on PATH; any program will do.",
    );
  },
};

function template(project: string, vendors: string[]): string {
  return `# perdure.toml: the names of this project. Everything is optional.
project = ${JSON.stringify(project)}

# name = "solo"                # who \`perdure whoami\` answers here; for projects with one agent

# [context]                    # where a run keeps its notes
# dir = ".ai"
# ext = "md"

# [policy]
# environment = ["AWS_PROFILE"] # variables recorded for later starts, besides the usual ones

# Start a worker under a name:
${(vendors.length > 0 ? vendors : ["my-agent"]).map((vendor) => `#   perdure run coder -- ${vendor}`).join("\n")}
`;
}
