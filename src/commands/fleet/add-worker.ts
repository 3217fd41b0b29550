import { join, relative } from "node:path";
import { configOf, readConfigText, type ConfigText, type WorkerEntry } from "../../project/config/read.ts";
import { CONFIG_FILE, fleetRoot, type FoundProject } from "../../project/find.ts";
import { entryLines, withEntry } from "../../project/fleet/add-entry.ts";
import { fleetOf, type Fleet } from "../../project/fleet/read.ts";
import { obstacleTo, replaceFile } from "../../project/fleet/replace-file.ts";
import { isIn } from "../../project/path-inside.ts";
import { branchOf } from "../../project/worktree/current-branch.ts";
import { commandText, verb } from "../../protocol/hint.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { checkName, nameKey } from "../../protocol/names.ts";
import { resolveProgram } from "../../launch/prepare.ts";
import { adapterOf, unknownVendor } from "../../vendors/index.ts";
import { callDaemon } from "../shared/call.ts";
import { ensureTrust } from "../shared/launch/ensure-trust.ts";
import { trustedContent } from "../shared/launch/trusted-content.ts";
import { projectRefHere } from "../shared/here.ts";
import { matchVendor } from "../shared/launch/launch.ts";
import { printable, type Output } from "../shared/output.ts";

export interface WorkerToAdd {
  name: string;
  /** The command after `--`, or with a vendor the arguments of its program. */
  rest: readonly string[] | null;
  vendor: string | null;
}

/**
 * Returns the project's fleet with one more worker, which was added to its file: read → trusted as it is → edited → parsed again →
 * replaced → trusted anew. The file is left alone unless all of that is possible; then the lines are printed for a person to add.
 */
export async function fleetWithWorker(
  found: FoundProject,
  asked: WorkerToAdd,
  { yes, out }: { yes: boolean; out: Output },
): Promise<Fleet> {
  const name = checkName(asked.name);
  const written = entryFor(found, asked);
  const here = projectRefHere(found);
  const { slug } = await callDaemon("showProject", { here });
  const root = fleetRoot(found);
  const file = join(root, CONFIG_FILE);
  noteOtherTree(found, name, written, out);
  const read = orRefused(
    () => readConfigText(root),
    (why) => notWritten({ file, name, entry: written, why }, out),
  );
  // A default that the new worker would take over, and that cannot run yet.
  const entry = read?.config.defaults?.mode === "turn" ? { ...written, mode: "tmux" as const } : written;
  const cannot = (why: string): Error => notWritten({ file, name, entry, why }, out);
  const before = read && orRefused(() => fleetOf(found, read, slug), cannot);
  // Asked of an absent file as well: only the operator may decide what runs here.
  await ensureTrust(before ?? emptyFleet(file, root), here, yes, out);
  if (before !== null && hasWorker(before, name, entry)) return before;
  const after = orRefused(() => edited({ root, file, read, name, entry }), cannot);
  const fleet = orRefused(() => fleetOf(found, after, slug), cannot);
  const obstacle = replaceFile(file, read?.source.text ?? null, after.source.text);
  if (obstacle !== null) throw cannot(obstacle);
  await callDaemon("trust", { here, ...trustedContent(fleet) });
  out.note(printable([`added to ${file}:`, ...entryLines(name, entry).map((line) => `  ${line}`)].join("\n")));
  return fleet;
}

/** Says before the start where a worker will be that was asked for in another working tree: the file's folders are those of its own. */
function noteOtherTree(found: FoundProject, name: string, { cwd = "." }: WorkerEntry, out: Output): void {
  const folder = join(fleetRoot(found), cwd);
  if (isIn(found.here, folder)) return;
  const onBranch = (tree: string): string => `${tree} (branch ${branchOf(tree) ?? "unknown"})`;
  out.note(
    printable(
      [
        `${name} will be in ${onBranch(folder)}, not in this worktree, ${onBranch(found.here)}:`,
        `  a fleet works in the main tree, or with worktree = true each worker in a worktree of its own.`,
        `  Here, in this terminal: ${commandText(verb("run", name, "--", "COMMAND"))}`,
      ].join("\n"),
    ),
  );
}

/** Says in the words of a fleet file what was asked for; throws if its program cannot be started here. */
function entryFor(found: FoundProject, { name, rest, vendor }: WorkerToAdd): WorkerEntry {
  const program = vendor === null ? commandEntry(name, rest ?? []) : vendorEntry(name, vendor, rest ?? []);
  const folder = relative(fleetRoot(found), process.cwd());
  const isBelow = folder !== "" && !folder.startsWith("..");
  return { ...program, ...(isBelow && { cwd: folder }) };
}

function vendorEntry(name: string, vendor: string, args: readonly string[]): WorkerEntry {
  const adapter = adapterOf(vendor);
  if (adapter === null) throw unknownVendor(vendor, `any other program: perdure up ${name} -- COMMAND`);
  if (adapter.command.length === 0) {
    throw new PerdureError("usage", `up: --vendor ${vendor} needs declared words, which only perdure.toml can give.`, {
      hint: "perdure init shows them, at [workers.legacy]",
    });
  }
  resolveProgram([...adapter.command, ...args], process.env, process.cwd());
  return { vendor, ...(args.length > 0 && { args: [...args] }) };
}

/** Makes a vendor's entry of a command that is just its program, so that the file says what a person would have written. */
function commandEntry(name: string, command: readonly string[]): WorkerEntry {
  if (command.length === 0) {
    throw new PerdureError("usage", "up: nothing follows --.", { hint: `perdure up ${name} -- COMMAND` });
  }
  resolveProgram(command, process.env, process.cwd());
  const match = matchVendor(command, process.cwd());
  const own = match && adapterOf(match.name)?.command;
  const isPlain = own !== null && own !== undefined && own.every((word, at) => command[at] === word);
  if (match === null || !isPlain || match.programAt !== own.length - 1) return { command: [...command] };
  const args = command.slice(own.length);
  return { vendor: match.name, ...(args.length > 0 && { args }) };
}

/** Tells whether the fleet has this very worker; throws if it has another one of that name. */
function hasWorker({ file, workers }: Fleet, name: string, entry: WorkerEntry): boolean {
  const key = nameKey(name);
  const same = workers.filter((each) => nameKey(each.name) === key || nameKey(each.entry) === key);
  if (same.length === 0) return false;
  const { vendor = null, command = null, args = [] } = entry;
  const isSame = same.every((each) => {
    return each.vendor === vendor && words(each.command) === words(command) && words(each.args) === words(args);
  });
  if (isSame) return true;
  throw new PerdureError("conflict", `${file} has a worker ${name} already, with another command.`, {
    hint: `perdure up ${name} starts that one; for another command edit ${file}, or take another name`,
  });
}

function words(list: readonly string[] | null): string {
  return JSON.stringify(list);
}

interface Edit {
  root: string;
  file: string;
  read: ConfigText | null;
  name: string;
  entry: WorkerEntry;
}

/** Returns the file as it would be; throws why it cannot be changed. */
function edited({ root, file, read, name, entry }: Edit): ConfigText {
  const obstacle = obstacleTo(file);
  if (obstacle !== null) throw new PerdureError("refused", obstacle);
  const text = withEntry({ text: read?.source.text ?? "", file }, name, entry);
  if (text === null) throw new PerdureError("refused", "a table at its end would not be read as one more worker");
  return configOf(root, text);
}

/** Turns a problem with the file into the error that asks a person to edit it. */
function orRefused<T>(step: () => T, cannot: (why: string) => Error): T {
  try {
    return step();
  } catch (error) {
    if (isPerdureError(error)) throw cannot(error.message.replace(/\.$/, ""));
    throw error;
  }
}

function notWritten(
  { file, name, entry, why }: { file: string; name: string; entry: WorkerEntry; why: string },
  out: Output,
): Error {
  const lines = entryLines(name, entry);
  out.note(printable(lines.join("\n")));
  return new PerdureError("refused", `${file} was not changed: ${why}.`, {
    hint: `add the lines above to it, then: perdure up ${name}`,
    details: { file, lines },
  });
}

function emptyFleet(file: string, root: string): Fleet {
  return { file, text: "", root, project: null, dropDir: null, workers: [] };
}
