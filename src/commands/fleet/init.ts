import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FoundProject } from "../../project/find.ts";
import { nameKey } from "../../protocol/names.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { CONFIG_FILE, fleetRoot } from "../../project/find.ts";
import { findProgram } from "../../runtime/find-program.ts";
import { isErrno } from "../../state/files.ts";
import { VENDOR_PROGRAMS } from "../../vendors/programs.ts";
import { callDaemon, listFromDaemon } from "../shared/call.ts";
import type { WorkerSummary } from "../../protocol/records/worker.ts";
import type { Command } from "../shared/command.ts";
import { findProjectHere, projectRefHere } from "../shared/here.ts";
import { hasKeys, printable, type Output } from "../shared/output.ts";
import { inOrderOfNames } from "../shared/table/worker-table.ts";
import { fleetTemplate, NEW_NAMES, type TemplateWorker } from "./init-template.ts";

export const init: Command = {
  summary: "write a commented perdure.toml for this project",
  usage: "",
  details: [
    "The file goes to the root of the project's main tree, with a fleet of the agents found on PATH and examples. An existing",
    "file is never overwritten. Workers that the project has already go on in it, under their names. At a terminal you choose",
    "among the agents, those workers, and the conversations that began here, each of which becomes a worker; and you name",
    "the new ones. What was written is trusted: `perdure up` starts it without a question.",
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
    const listed = await listFromDaemon("ls", { here: projectRefHere(found), project: null, all: false });
    const workers = listed.items.filter(({ mode }) => mode !== "client");
    const known = await knownWorkers(workers, out);
    const everything = { vendors: installed, names: freeNames(listed.items), known, adopted: [] };
    const chosen = choices === null ? everything : await choices.chooseWorkers(found, installed, known, out);
    if (chosen === null) return out.note("Nothing was written.");
    const ofConversations = chosen.adopted.map(({ name, vendor }) => ({ name, entry: { vendor } }));
    const text = fleetTemplate(found.base, chosen.vendors, [...chosen.known, ...ofConversations], chosen.names);
    writeNew(file, text);
    await trustWritten(found, text, out);
    for (const each of chosen.adopted) await choices?.adoptChosen(found, each, out);
    const names = chosen.adopted.map(({ name }) => name);
    const more = {
      ...(names.length > 0 && { adopted: names }),
      ...(chosen.known.length > 0 && { known: chosen.known.map(({ name }) => name) }),
    };
    out.result({ file, project: found.base, vendors: chosen.vendors, ...more }, () => printable(`wrote ${file}`));
    if (chosen.known.length > 0)
      out.note(`Workers that go on in it: ${chosen.known.map(({ name }) => name).join(", ")}`);
    out.note(
      installed.length > 0
        ? `Agents found on PATH: ${installed.join(", ")}`
        : "No agents found on PATH: the file uses the built-in one.",
    );
    out.note("→ perdure up starts them; names can still be changed in the file before that");
  },
};

/** Returns the workers of the project that the file can declare; one whose program takes declared words is left to a person. */
async function knownWorkers(items: readonly WorkerSummary[], out: Output): Promise<TemplateWorker[]> {
  const known: TemplateWorker[] = [];
  if (items.length === 0) return known;
  const { knownWorker, storedEntry } = await import("../shared/launch/stored-entry.ts");
  for (const { name, address } of inOrderOfNames(items)) {
    const worker = await knownWorker(address);
    const entry = worker && storedEntry(worker);
    if (entry) known.push({ name, entry });
    else if (worker)
      out.note(printable(`${name} is not written: perdure.toml would need its command. See [workers.legacy] there`));
  }
  return known;
}

/** Returns the names of the new workers that are free; null for one that a worker has. */
function freeNames(workers: readonly WorkerSummary[]): (string | null)[] {
  const taken = new Set(workers.map(({ name }) => nameKey(name)));
  return NEW_NAMES.map((name) => (taken.has(name) ? null : name));
}

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
