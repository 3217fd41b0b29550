import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FoundProject } from "../../project/find.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { CONFIG_FILE, fleetRoot } from "../../project/find.ts";
import { findProgram } from "../../runtime/find-program.ts";
import { isErrno } from "../../state/files.ts";
import { VENDOR_PROGRAMS } from "../../vendors/programs.ts";
import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { findProjectHere, projectRefHere } from "../shared/here.ts";
import { hasKeys, printable, type Output } from "../shared/output.ts";
import { fleetTemplate } from "./init-template.ts";

export const init: Command = {
  summary: "write a commented perdure.toml for this project",
  usage: "",
  details: [
    "The file goes to the root of the project's main tree, with a fleet of the agents found on PATH and examples. An existing",
    "file is never overwritten. At a terminal you choose among the agents, and among the conversations that began here: each",
    "of those becomes a worker. What was written is trusted: `perdure up` starts it without a question.",
  ].join("\n"),
  examples: ["perdure init"],
  words: [0, 0],

  async run({ out }) {
    const found = findProjectHere();
    const file = join(fleetRoot(found), CONFIG_FILE);
    if (existsSync(file)) throw existsAlready(file);
    const installed = VENDOR_PROGRAMS.filter(
      ({ program }) => "file" in findProgram(program, process.env.PATH, "/"),
    ).map(({ vendor }) => vendor);
    const choices = hasKeys(out) ? await import("./init-choices.ts") : null;
    const everything = { vendors: installed, adopted: [] };
    const chosen = choices === null ? everything : await choices.chooseWorkers(found, installed, out);
    if (chosen === null) return out.note("Nothing was written.");
    const text = fleetTemplate(found.base, chosen.vendors, chosen.adopted);
    writeNew(file, text);
    await trustWritten(found, text, out);
    for (const each of chosen.adopted) await choices?.adoptChosen(found, each, out);
    const names = chosen.adopted.map(({ name }) => name);
    const adopted = names.length > 0 && { adopted: names };
    out.result({ file, project: found.base, vendors: chosen.vendors, ...adopted }, () => printable(`wrote ${file}`));
    out.note(
      installed.length > 0
        ? `Agents found on PATH: ${installed.join(", ")}`
        : "No agents found on PATH: the file uses the built-in one.",
    );
    out.note("→ perdure up, once its names are to your taste");
  },
};

function writeNew(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: "wx" });
  } catch (error) {
    if (isErrno(error, "EEXIST")) throw existsAlready(file);
    throw error;
  }
}

function existsAlready(file: string): PerdureError {
  return new PerdureError("conflict", `${file} already exists; it was not changed.`, {
    hint: `perdure up starts what it has; to change that edit ${file}`,
  });
}

/** Records that the operator agrees to what was written at their word. Where that cannot be done, `up` asks as it does for any file. */
async function trustWritten(found: FoundProject, text: string, out: Output): Promise<void> {
  try {
    await callDaemon("trust", { here: projectRefHere(found), text, prompts: "{}" });
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    out.note(printable(`perdure up will ask before it runs the file: ${error.message}`));
  }
}
