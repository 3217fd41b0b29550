import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { anchorSettings, predecessorContext } from "../../project/context-file.ts";
import { readProjectConfig, readUserConfig } from "../../project/config/read.ts";
import type { CallParams, Target } from "../../protocol/calls/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { nearest } from "../../protocol/names.ts";
import type { LaunchStep } from "../../protocol/records/launch.ts";
import type { WorkerDetail } from "../../protocol/records/worker.ts";
import { shellWords } from "../../util/shell-quote.ts";
import { execWrapper, inheritedFrom } from "../../runtime/wrapper/exec.ts";
import { recordedEnvironment } from "../../launch/environment.ts";
import { resolveLaunch, resolveProgram, type PreparedLaunch } from "../../launch/prepare.ts";
import { userConfigFile } from "../../state/paths.ts";
import { adapterNames, adapterOf, provedVendors } from "../../vendors/index.ts";
import { ask } from "../shared/call.ts";
import { claimForLaunch, vendorOf } from "../shared/launch.ts";
import type { Command, Invocation } from "../shared/command.ts";
import { foundHere, placeHere, targetOf } from "../shared/here.ts";
import { wantedOfEntry } from "./entry.ts";
import { printable, type Output } from "../shared/output.ts";

export const runCommand: Command = {
  summary: "start or resume a worker, here, in the foreground",
  usage: "NAME [--vendor V [--new W --resume W]] [--fresh] [-- COMMAND…]",
  details: [
    "The name has one owner at a time: while it runs, a second `run` is refused (exit 4). Without `--` the",
    "command of last time is used again, in its folder of last time. The exit code is the program's own.",
    `An agent (${provedVendors().join(", ")}; scripted is built in, for trying it out) comes back`,
    "in its own conversation or not at all (exit 5, with the reason), without being told to;",
    "--fresh begins a new one. With --vendor only that vendor's arguments follow `--`. Arguments are used again at",
    "every start, a prompt among them too. Any other program runs as well, and always starts anew, unless",
    "--vendor custom declares how it is told to begin (--new) and to go on (--resume).",
    "A name of perdure.toml that was never started starts as that file says, once the file is trusted.",
  ].join("\n"),
  examples: [
    "perdure run coder -- claude --model opus",
    "perdure run coder",
    "perdure run coder --fresh",
    "perdure run helper --vendor codex",
    "perdure run build -- make -j4",
    "perdure run mine --vendor custom --new='--id {id}' --resume='--continue {id}' -- my-agent",
  ],
  options: {
    vendor: { type: "string" },
    fresh: { type: "boolean" },
    new: { type: "string" },
    resume: { type: "string" },
  },
  words: [1, 1],
  takesRest: true,

  // resolve → look for the program → claim, which plans → write what the launch needs → become the wrapper
  async run({ words, rest, values, out }) {
    const found = foundHere();
    const target = targetOf(words[0] ?? "", placeHere(found));
    const stored = await storedWorker(target);
    const never = stored?.command == null && values.vendor === undefined;
    const entry = never ? await wantedOfEntry(found, target, rest, out) : null;
    const cwd = entry?.cwd ?? process.cwd();
    const { command, vendor } = entry ?? wantedCommand(rest, values, stored, target.name, cwd);
    assertStartable(command, stored, cwd);
    const config = readProjectConfig(found);
    const anchors = anchorSettings({}, config, readUserConfig(userConfigFile(process.env)));
    const environment = entry?.environment ?? recordedEnvironment(process.env, config.policy?.environment ?? []);
    const given = { command, vendor, cwd, environment, prompt: entry?.prompt ?? null };
    const launch = await claimForLaunch({ target, ...given, ephemeral: false, fresh: values.fresh === true });
    tellWhatStarts(launch, command === null, process.cwd(), out);
    const left = predecessorContext(launch.grant.earlierRuns, anchors, launch.cwd);
    if (left) tellPredecessor(launch, left, out);
    execWrapper({
      command: launch.command,
      cwd: launch.cwd,
      form: launch.grant.wrapper,
      runDir: launch.grant.runDir,
      environment: launch.environment,
      inherited: inheritedFrom(process.env),
      loaderSwallowsSignals:
        launch.session !== null && adapterOf(launch.session.vendor)?.launch.loaderSwallowsSignals === true,
    });
  },
};

/** Null for a name nobody has yet. */
async function storedWorker(target: Target): Promise<WorkerDetail | null> {
  try {
    return await ask("show", { target });
  } catch (error) {
    if (isPerdureError(error) && error.code === "not-found") return null;
    throw error;
  }
}

type CommandToRun = Pick<CallParams<"claim">, "command" | "vendor">;

/** The command as given, or null for the stored one. */
function wantedCommand(
  rest: readonly string[] | null,
  values: Invocation["values"],
  stored: WorkerDetail | null,
  name: string,
  cwd: string,
): CommandToRun {
  if (typeof values.vendor === "string") return wantedOfVendor(values.vendor, rest, values, stored, name);
  if (rest === null) return wantedAgain(stored);
  if (rest.length === 0) {
    throw new PerdureError("usage", "Nothing follows --.", { hint: `perdure run ${name} -- COMMAND` });
  }
  return { command: [...rest], vendor: vendorOf(rest, cwd) };
}

function wantedOfVendor(
  vendor: string,
  rest: readonly string[] | null,
  values: Invocation["values"],
  stored: WorkerDetail | null,
  name: string,
): CommandToRun {
  const adapter = adapterOf(vendor);
  if (adapter === null) {
    const [near] = nearest(vendor, adapterNames());
    throw new PerdureError("usage", `There is no vendor ${JSON.stringify(vendor)}.`, {
      hint: near
        ? `did you mean ${near}?`
        : `known: ${adapterNames().join(", ")}; any other program runs without --vendor`,
    });
  }
  if (rest === null && stored?.vendor === vendor) return { command: null, vendor: null };
  // Without a program of its own: the command is whole, and how it is told is declared.
  if (adapter.command.length === 0) return wantedDeclared(vendor, rest ?? [], values, name);
  const programAt = adapter.command.length - 1;
  return { command: [...adapter.command, ...(rest ?? [])], vendor: { name: vendor, programAt } };
}

function wantedDeclared(
  vendor: string,
  rest: readonly string[],
  values: Invocation["values"],
  name: string,
): CommandToRun {
  const [begin, resume] = [declaredWords(values.new), declaredWords(values.resume)];
  if (rest.length === 0 || begin === null || resume === null) {
    throw new PerdureError("usage", `--vendor ${vendor} needs a command, --new and --resume with {id} in both.`, {
      hint: `perdure run ${name} --vendor ${vendor} --new='--id {id}' --resume='--continue {id}' -- COMMAND`,
    });
  }
  return { command: [...rest], vendor: { name: vendor, programAt: 0, declared: { new: begin, resume } } };
}

/** Words apart by spaces; null unless one of them has the id in it. */
function declaredWords(text: string | boolean | undefined): string[] | null {
  const words = typeof text === "string" ? text.split(/\s+/).filter(Boolean) : [];
  return words.some((word) => word.includes("{id}")) ? words : null;
}

/** A worker from before its program had an adapter is matched now: from here on it has a conversation. */
function wantedAgain(stored: WorkerDetail | null): CommandToRun {
  const vendor = stored?.command && stored.vendor === null ? vendorOf(stored.command, stored.cwd ?? "/") : null;
  return vendor === null ? { command: null, vendor } : { command: stored?.command ?? null, vendor };
}

/** Before anything is claimed: a start that cannot be must not cost a generation. */
function assertStartable(command: string[] | null, stored: WorkerDetail | null, cwd: string): void {
  if (command !== null) resolveProgram(command, process.env, cwd);
  // A name nobody has: the claim says what is missing.
  else if (stored !== null && stored.command !== null) {
    const { conversation } = stored;
    resolveLaunch({ ...stored, cwd: conversation?.launchCwd ?? stored.cwd }, process.env, conversation);
  }
}

function tellWhatStarts({ grant, session, cwd }: PreparedLaunch, again: boolean, here: string, out: Output): void {
  const place = cwd === here ? "" : `  (in ${cwd})`;
  const conversation = session === null ? "" : `, ${STEPS[session.step]} ${session.vendor} conversation ${session.id}`;
  if (again) {
    const command = shellWords(grant.command ?? []);
    out.note(printable(`perdure: ${grant.address} again: ${command}${place}${conversation}`));
  } else if (session !== null) out.note(printable(`perdure: ${grant.address}${conversation}${place}`));
  if (!session?.restored) return;
  const { bytes, missingBytes } = session.restored;
  const lost = missingBytes === 0 ? "" : `; ${missingBytes} bytes that were written after it are lost`;
  out.note(`perdure: ${session.vendor} had lost it; put back from the copy that was kept (${bytes} bytes${lost})`);
}

const STEPS: Readonly<Record<LaunchStep, string>> = { new: "new", resume: "resuming", fork: "branching into" };

function tellPredecessor({ grant, session, environment }: PreparedLaunch, file: string, out: Output): void {
  out.note(printable(`perdure: an earlier run left its context: ${file}`));
  environment.PERDURE_PREDECESSOR_CONTEXT = file;
  const told =
    session &&
    adapterOf(session.vendor)?.launch.startMessage?.(`An earlier run of ${grant.address} left its context in ${file}.`);
  if (told) writeFileSync(join(grant.runDir, told.name), told.text, { mode: 0o600 });
}
