import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { fleetChanges, commandSummary } from "../../project/fleet/diff.ts";
import type { Fleet, FleetWorker } from "../../project/fleet/read.ts";
import type { ProjectRef } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { isErrno } from "../../state/files.ts";
import { ask } from "./call.ts";
import { trustOf } from "./fleet-entries.ts";
import { printable, type Output } from "./output.ts";

/** Returns if the fleet file is trusted, or is after asking. Without a terminal nobody can be asked. */
export async function ensureTrust(fleet: Fleet, here: ProjectRef, yes: boolean, out: Output): Promise<void> {
  const { file } = fleet;
  const { trusted, before } = await ask("checkTrust", { here, ...trustOf(fleet) });
  if (trusted) return;
  if (!yes) {
    const shown = before === null ? whatRuns(fleet) : whatChanged(before, fleet);
    const changed = before?.text === fleet.text ? `What ${file} has its workers told first` : file;
    const title =
      before === null ? `${file} has never run here. It would start:` : `${changed} has changed since you trusted it:`;
    out.note([title, ...shown.map((line) => `  ${line}`)].map(printable).join("\n"));
    if (!(await agreed("Run it? [y/N] "))) throw untrusted(file, before !== null);
  }
  await ask("trust", { here, ...trustOf(fleet) });
}

/** What would run, and what would be said first. */
function whatRuns(fleet: Fleet): string[] {
  const told = fleet.workers.filter(({ prompt }) => prompt !== null);
  return [...commandSummary(fleet), ...told.flatMap(promptLines)];
}

/** Never nothing: a change that changes no setting is one, too. */
function whatChanged(before: { text: string; prompts: string }, fleet: Fleet): string[] {
  const lines = fleetChanges(before.text, fleet.text).map(({ sign, text }) => `${sign} ${text}`);
  const [known, now] = [before.prompts, trustOf(fleet).prompts].map(
    (json) => JSON.parse(json) as Record<string, string>,
  );
  const others = fleet.workers.filter(({ name }) => now?.[name] !== known?.[name]).flatMap(promptLines);
  return lines.length + others.length > 0 ? [...lines, ...others] : ["only comments and layout"];
}

/** Its beginning; the file has the rest. */
function promptLines({ name, prompt }: FleetWorker): string[] {
  const lines = (prompt ?? "").trimEnd().split("\n");
  const more = lines.length > PROMPT_LINES ? [`    … ${lines.length - PROMPT_LINES} more lines`] : [];
  return [`${name} is told first:`, ...lines.slice(0, PROMPT_LINES).map((line) => `    ${line}`), ...more];
}

const PROMPT_LINES = 10;

function untrusted(file: string, changed: boolean): PerdureError {
  const why = changed ? "has changed since it was trusted" : "is not trusted yet";
  return new PerdureError("refused", `${file} ${why}; nothing was started.`, {
    hint: "read it, then at a terminal: perdure trust; in a script: perdure trust --yes",
    details: { untrusted: true },
  });
}

/** At the terminal itself, whatever stdin is. Anything but a yes is a no. */
async function agreed(question: string): Promise<boolean> {
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
