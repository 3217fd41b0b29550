import { anchorSettings, predecessorContext } from "../../project/context-file.ts";
import { readProjectConfig, readUserConfig } from "../../project/config/read.ts";
import type { FoundProject } from "../../project/find.ts";
import type { Target } from "../../protocol/calls/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import type { LaunchStep } from "../../protocol/records/launch.ts";
import { missingIn } from "../../protocol/records/restored.ts";
import type { WorkerDetail } from "../../protocol/records/worker.ts";
import { shellWords } from "../../util/shell-quote.ts";
import { execWrapper, inheritedFrom } from "../../runtime/wrapper/exec.ts";
import { tellAtStart, resolveLaunch, resolveProgram, type PreparedLaunch } from "../../launch/prepare.ts";
import { userConfigFile } from "../../state/paths.ts";
import { provedVendors, vendorNames } from "../../vendors/programs.ts";
import { callDaemon } from "../shared/call.ts";
import { claimForLaunch, LOADED_LATE, matchVendor } from "../shared/launch/launch.ts";
import type { Command, Invocation } from "../shared/command.ts";
import { callerHere, findProjectHere, passedOverNote, projectRefHere, targetOf } from "../shared/here.ts";
import { printable, type Output } from "../shared/output.ts";
import { environmentHere } from "../shared/launch/environment-here.ts";
import type { CommandToRun } from "./vendor-command.ts";

export const runCommand: Command = {
  summary: "start or resume a worker here, in this terminal",
  usage: "[NAME] [options] [-- COMMAND…]",
  details: [
    "A name has one owner at a time: while it runs, a second `run` is refused (exit 4). Without `--` the last command is",
    "run again, in its last folder, with the same arguments, a prompt among them. A name of perdure.toml that was never",
    "started starts as that file says, once the file is trusted. Without NAME it is the worker that `perdure whoami` says.",
    "",
    `An agent (${provedVendors().join(", ")}; scripted is built in, for trying it out) is resumed in its own`,
    "conversation or not at all (exit 5, with the reason), without extra arguments. Any other program runs as well, and",
    "begins from scratch each time.",
    "",
    "The exit code is the program's own; only a headless agent that succeeded in another conversation than its own, or in",
    "none, ends with 5, and stderr says so.",
  ].join("\n"),
  examples: [
    "perdure run coder -- claude --model opus",
    "perdure run coder",
    "perdure run coder --fresh",
    "perdure run helper --vendor codex",
    "perdure run build -- make -j4",
    "perdure run mine --vendor custom \\\n    --new-args='--id {id}' --resume-args='--continue {id}' -- my-agent",
  ],
  options: {
    vendor: {
      value: "V",
      about: "whose agent it is; only that vendor's arguments follow --",
      completes: vendorNames(),
    },
    fresh: { about: "begin a new conversation; the old one stays in `perdure history`" },
    accept: {
      about: "where another process wrote to the conversation beside the worker: go on with what that one said",
    },
    "new-args": { value: "WORDS", about: "with --vendor custom: what begins a conversation, with {id} in it" },
    "resume-args": { value: "WORDS", about: "with --vendor custom: what resumes it, with {id} in it" },
  },
  aliases: { new: "new-args", resume: "resume-args" },
  completes: ["worker"],
  words: [0, 1],
  takesRest: true,

  // resolve the name → find the program → claim, which plans → write what the launch needs → exec the wrapper
  async run({ words, rest, values, out }) {
    const found = findProjectHere();
    const passedOver = passedOverNote(found);
    if (passedOver !== null) out.note(printable(`perdure: ${passedOver}`));
    const target = words[0] === undefined ? await pinned(found, out) : targetOf(words[0], projectRefHere(found));
    const stored = await storedWorker(target);
    const neverStarted = stored?.command == null && values.vendor === undefined;
    const entry = neverStarted ? await (await import("./entry.ts")).entryForRun(found, target, rest, out) : null;
    const cwd = entry?.cwd ?? process.cwd();
    const { command, vendor } = entry ?? (await commandToRun(rest, values, stored, target.name, cwd));
    requireStartable(command, stored, cwd);
    const config = readProjectConfig(found);
    const anchors = anchorSettings({}, config, readUserConfig(userConfigFile(process.env)));
    const own = entry?.own;
    const spec = { command, vendor, cwd, own, prompt: entry?.prompt ?? null };
    const request = { target, ...spec, ...environmentHere(config, out), ephemeral: false, ...choiceOf(values) };
    const launch = await claimForLaunch(request, { ...process.env, ...own });
    printStart(launch, command === null, process.cwd(), out);
    const contextFile = predecessorContext(launch.grant.earlierRuns, anchors, launch.cwd);
    if (contextFile) out.note(printable(`perdure: an earlier run left its context: ${contextFile}`));
    await tellAtStart(launch, contextFile, LOADED_LATE.adapterOf);
    execWrapper({
      command: launch.command,
      cwd: launch.cwd,
      form: launch.grant.wrapper,
      runDir: launch.grant.runDir,
      environment: launch.environment,
      inherited: inheritedFrom(process.env),
      options: { ...launch.wrapping, awaitsVerdict: launch.judged, name: launch.grant.name },
    });
  },
};

/** Returns the worker that is meant where none is named; throws if nothing says which. */
async function pinned(found: FoundProject, out: Output): Promise<Target> {
  const { identify, pinnedTarget } = await import("../../client/identity.ts");
  const caller = callerHere(found);
  const identity = identify(caller);
  const target = pinnedTarget(identity, caller, projectRefHere(found));
  if (target === null) {
    throw new PerdureError("usage", "run: NAME is missing.", {
      hint: 'perdure run NAME; or say once who is meant here: PERDURE_NAME=NAME, or name = "NAME" in perdure.toml',
    });
  }
  out.note(`perdure: ${identity.address}, by ${identity.source}`);
  return target;
}

function choiceOf({ fresh, accept }: Invocation["values"]): { fresh: boolean; accept?: true } {
  if (fresh === true && accept === true) {
    throw new PerdureError("usage", "--fresh and --accept cannot be combined.", {
      hint: "--fresh begins a new conversation; --accept goes on in the present one",
    });
  }
  return { fresh: fresh === true, ...(accept === true && { accept }) };
}

/** Fetches the worker of this name; null if there is none yet. */
async function storedWorker(target: Target): Promise<WorkerDetail | null> {
  try {
    return await callDaemon("show", { target });
  } catch (error) {
    if (isPerdureError(error) && error.code === "not-found") return null;
    throw error;
  }
}

/** Returns the command to run; null stands for the stored one. */
async function commandToRun(
  rest: readonly string[] | null,
  values: Invocation["values"],
  stored: WorkerDetail | null,
  name: string,
  cwd: string,
): Promise<CommandToRun> {
  if (typeof values.vendor === "string") {
    const { vendorCommand } = await import("./vendor-command.ts");
    return vendorCommand(values.vendor, rest, values, stored, name);
  }
  if (rest === null) return storedCommand(stored);
  if (rest.length === 0) {
    throw new PerdureError("usage", "There is no command after --.", { hint: `perdure run ${name} -- COMMAND` });
  }
  return { command: [...rest], vendor: matchVendor(rest, cwd) };
}

/** Runs the stored command. A worker older than its vendor's adapter is matched now, and has a conversation from then on. */
function storedCommand(stored: WorkerDetail | null): CommandToRun {
  const vendor = stored?.command && stored.vendor === null ? matchVendor(stored.command, stored.cwd ?? "/") : null;
  return vendor === null ? { command: null, vendor } : { command: stored?.command ?? null, vendor };
}

/** Throws, before anything is claimed, if the program cannot be started: a failed start must not use up a generation. */
function requireStartable(command: string[] | null, stored: WorkerDetail | null, cwd: string): void {
  if (command !== null) resolveProgram(command, process.env, cwd);
  // For an unknown name the claim says what is missing.
  else if (stored !== null && stored.command !== null) {
    const { conversation } = stored;
    resolveLaunch({ ...stored, cwd: conversation?.launchCwd ?? stored.cwd }, process.env, conversation);
  }
}

function printStart(
  { grant, session, cwd, lacks, environment }: PreparedLaunch,
  again: boolean,
  here: string,
  out: Output,
): void {
  const folder = cwd === here ? "" : `  (in ${cwd})`;
  const conversation = session === null ? "" : `, ${STEPS[session.step]} ${session.vendor} conversation ${session.id}`;
  if (again) {
    const command = shellWords(grant.command ?? []);
    // A conversation of which nothing was ever written begins anew: "again" would promise another one.
    const once = session?.step === "new" ? "" : " again";
    out.note(printable(`perdure: ${grant.address}${once}: ${command}${folder}${conversation}`));
  } else if (session !== null) out.note(printable(`perdure: ${grant.address}${conversation}${folder}`));
  noteMissing(lacks, environment, out);
  if (session?.knownUntil !== undefined) noteCopied(grant.name, session.knownUntil, out);
  if (!session?.restored) return;
  const copy = `${session.restored.bytes} bytes${missingIn(session.restored)}`;
  out.note(`perdure: ${session.vendor} had lost the conversation; restored from perdure's copy (${copy})`);
}

/** Says that the conversation may not be the worker's last one: its state folder was put back from a copy. */
function noteCopied(name: string, at: string, out: Output): void {
  out.note(
    printable(
      `perdure: this state folder is a copy as of ${at}: if ${name} was in another conversation after that, perdure adopt lists it, and perdure adopt ${name} --conversation ID takes it`,
    ),
  );
}

/** Says which variables the vendor's settings name and the program does not find, now or at later starts. */
function noteMissing(lacks: PreparedLaunch["lacks"], environment: Record<string, string>, out: Output): void {
  for (const { name, namedBy } of lacks) {
    const where = environment[name] ? "is here, but not recorded: later starts will not have it" : "is not set";
    out.note(printable(`perdure: ${name}, which ${namedBy} names, ${where}`));
  }
}

const STEPS: Readonly<Record<LaunchStep, string>> = { new: "new", resume: "resuming", fork: "branching into" };
