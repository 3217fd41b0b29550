import { closeSync, openSync, readdirSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { TRUST_PROMPT_LINES } from "../../../limits/index.ts";
import { dropFolder } from "../../../project/configured-folder.ts";
import { fleetChanges, commandSummary, type ChangedLine } from "../../../project/fleet/diff.ts";
import type { Fleet, FleetWorker } from "../../../project/fleet/read.ts";
import type { ProjectRef } from "../../../protocol/calls/index.ts";
import { PerdureError } from "../../../protocol/errors.ts";
import { isErrno, isFolder } from "../../../state/files.ts";
import { adapterOf } from "../../../vendors/index.ts";
import { callDaemon } from "../call.ts";
import { escaped, printable, type Output } from "../output.ts";
import { trustedContent } from "./trusted-content.ts";

/** Returns if the fleet file is trusted, asking the person at the terminal if necessary; throws if it is not. */
export async function ensureTrust(fleet: Fleet, here: ProjectRef, yes: boolean, out: Output): Promise<void> {
  const { file } = fleet;
  const { trusted, before } = await callDaemon("checkTrust", { here, ...trustedContent(fleet) });
  if (trusted || saysNothing(fleet)) return;
  if (!yes) {
    const shown = before === null ? startPreview(fleet) : changeLines(before, fleet);
    const changed = before?.text === fleet.text ? `A prompt of ${file}` : file;
    const title =
      before !== null
        ? `${changed} has changed since you agreed to run it; perdure asks after every change, one of your own, too. What changed:`
        : `${file} has never run here. It ${fleet.workers.length > 0 ? "would start" : "sets"}:`;
    out.note([title, ...shown.map((line) => `  ${line}`)].map(visible).join("\n"));
    if (!(await confirmOnTerminal("Run it? [y/N] "))) throw notTrusted(file, before !== null);
  }
  await callDaemon("trust", { here, ...trustedContent(fleet) });
}

/** Escapes every character that nobody would see: a model reads an order that is written in them, and a person agrees to it unread. */
function visible(line: string): string {
  return printable(line).replaceAll(/\p{Default_Ignorable_Code_Point}/gu, escaped);
}

/** Tells whether there is nothing in the file that anybody could agree to: it is absent, or has comments only. */
function saysNothing({ text, workers }: Fleet): boolean {
  return workers.length === 0 && fleetChanges(null, text).length === 0;
}

/** Lists the commands that would run, and the first prompts; of a file that starts nothing yet, what it sets for those to come. */
function startPreview(fleet: Fleet): string[] {
  if (fleet.workers.length === 0)
    return [...fleetChanges(null, fleet.text).map(({ text }) => text), ...dropLines(fleet)];
  const prompted = fleet.workers.filter(({ prompt }) => prompt !== null);
  return [
    ...commandSummary(fleet),
    ...turnLines(fleet),
    ...boundLines(fleet),
    ...prompted.flatMap(promptLines),
    ...dropLines(fleet),
  ];
}

/** Lists the bounds that the file sets for what mail may begin by itself: each turn costs something. */
function boundLines({ text }: Fleet): string[] {
  let table = "";
  return fleetChanges(null, text).flatMap((line) => {
    table = /^\[(.*)\]$/.exec(line.text)?.[1] ?? table;
    const isBound = line.text.startsWith("wakes_per_hour = ") || (table === "turns" && !line.text.startsWith("["));
    return isBound ? [`[${table}] ${line.text}`] : [];
  });
}

/** Lists what changed since the file was trusted; never empty, because a changed comment is a change, too. */
function changeLines(before: { text: string; prompts: string }, fleet: Fleet): string[] {
  const changes = fleetChanges(before.text, fleet.text);
  const drops = changes.some(({ sign, text }) => sign === "+" && text.startsWith("drop_dir")) ? dropLines(fleet) : [];
  const lines = [...changes.map(({ sign, text }) => `${sign} ${text}`), ...drops];
  const [known, now] = [before.prompts, trustedContent(fleet).prompts].map(
    (json) => JSON.parse(json) as Record<string, string>,
  );
  const prompts = fleet.workers.filter(({ name }) => now?.[name] !== known?.[name]).flatMap(promptLines);
  if (lines.length + prompts.length === 0) return ["only comments and layout"];
  const tables = new Set(changes.map(({ text }, at) => (text.startsWith("[") ? text : tableOf(changes, at))));
  const isAbout = ({ entry }: FleetWorker): boolean => tables.has(`[workers.${entry}]`);
  const isForAll = [...tables].some((table) => !table.startsWith("[workers."));
  const turns = turnLines({ ...fleet, workers: fleet.workers.filter((each) => isForAll || isAbout(each)) });
  return [...lines, ...turns, ...prompts];
}

/** Returns the header of the table that a changed line is in; empty for what stands above all tables. */
function tableOf(changes: readonly ChangedLine[], at: number): string {
  return changes.slice(0, at).findLast(({ text }) => text.startsWith("["))?.text ?? "";
}

/** Says of each worker of turns whose mail starts it, and what its program may do then, where nobody is asked. */
function turnLines({ workers }: Fleet): string[] {
  return workers
    .filter(({ mode }) => mode === "turn")
    .map(({ name, vendor, args, turnsFrom }) => {
      const turn = adapterOf(vendor ?? "")?.turn;
      const byDefault = turn?.skipsPermissions(args) == null ? "you and this fleet" : "you";
      return `${name} answers mail by itself; from ${turnsFrom?.join(", ") ?? byDefault}; may: ${turn?.may(args) ?? "nothing is known of that"}`;
    });
}

/** Says what a `drop_dir` means, and how much lies there: a repository can bring the files along. */
function dropLines({ root, dropDir }: Fleet): string[] {
  if (dropDir === null) return [];
  const found = dropFolder(root, dropDir);
  const waiting = "folder" in found ? filesIn(found.folder) : 0;
  const now = waiting === 0 ? "none is there now" : `${waiting} ${waiting === 1 ? "is" : "are"} there now`;
  return [`every file in ${dropDir}/to_NAME/ is told to the agent NAME, whoever wrote it, and moved aside; ${now}`];
}

function filesIn(folder: string): number {
  const names = (path: string): string[] => (isFolder(path) ? readdirSync(path) : []);
  const agents = names(folder).filter((name) => name.startsWith("to_"));
  return agents.reduce((count, agent) => count + names(join(folder, agent)).length, 0);
}

/** Quotes the beginning of a worker's prompt. */
function promptLines({ name, prompt }: FleetWorker): string[] {
  const lines = (prompt ?? "").trimEnd().split("\n");
  const more = lines.length > TRUST_PROMPT_LINES ? [`    … ${lines.length - TRUST_PROMPT_LINES} more lines`] : [];
  return [`${name} is prompted:`, ...lines.slice(0, TRUST_PROMPT_LINES).map((line) => `    ${line}`), ...more];
}

function notTrusted(file: string, changed: boolean): PerdureError {
  const why = changed ? "has changed since you agreed to run it" : "is not trusted yet";
  return new PerdureError("refused", `${file} ${why}; nothing was started.`, {
    hint: changed
      ? "if the change is right: perdure trust, and answer y; in a script: perdure trust --yes"
      : "read it, then at a terminal: perdure trust, and answer y; in a script: perdure trust --yes",
    details: { untrusted: true },
  });
}

/** Asks on the terminal itself, whatever stdin is. Anything but a yes is a no, and so is the lack of a terminal. */
async function confirmOnTerminal(question: string): Promise<boolean> {
  let terminal: number;
  try {
    terminal = openSync("/dev/tty", "r+");
  } catch (error) {
    if (isErrno(error, "ENXIO", "ENOENT", "EACCES", "ENODEV")) return false;
    throw error;
  }
  try {
    writeSync(terminal, question);
    const answer = Buffer.alloc(64);
    const length = readSync(terminal, answer);
    return /^\s*y(es)?\s*$/i.test(answer.toString("utf8", 0, length));
  } finally {
    closeSync(terminal);
  }
}
