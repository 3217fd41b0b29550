import { CUSTODY_TRANSCRIPT_BYTES_MAX } from "../../limits/index.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import type { OtherConfig } from "../../core/launch.ts";
import { hinted, hintOf, startVerb, verb, type Hint, type HintLike } from "../../protocol/hint.ts";
import { hasVendorWords } from "../../core/refused-start.ts";
import type { DrillCheck, DrillResult, GoodTranscript, Transcript } from "../../protocol/records/conversation.ts";
import { missingIn, type Restored } from "../../protocol/records/restored.ts";
import { findProgram } from "../../runtime/find-program.ts";
import { installedVersion } from "../../launch/installed-version.ts";
import { unknownSince } from "../../store/meta.ts";
import { custodyOf, type CustodyCopy } from "../../store/custody.ts";
import {
  boundConversation,
  conversationById,
  lastEntryOfConversation,
  type Conversation,
} from "../../store/conversations.ts";
import { projectById } from "../../store/projects.ts";
import type { Worker } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import { isFolder } from "../../state/files.ts";
import { locationOf } from "../conversations/probe/probe.ts";
import { decideStart, otherConfigOf } from "./plan.ts";
import { probeBinding } from "./probe-binding.ts";
import { probeStem } from "./probe-stem.ts";
import { stemIdOf, stemMessage } from "./stem.ts";
import { isReplaced, replacedProblem } from "./replaced.ts";
import type { LaunchServices } from "./services.ts";
import { recordingOff, removalHint, unrecordedBy } from "./recording.ts";
import { missingNote, missingVariables } from "./missing-variables.ts";
import { launchSpecOf, locationForNew } from "./spec.ts";
import { assertWritable } from "./writable.ts";
import { shellWords } from "../../util/shell-quote.ts";

/** A worker as its next start would find it. */
interface Drilled {
  address: string;
  worker: Worker;
  conversation: Conversation | null;
  environment: Record<string, string>;
}

/**
 * Checks, without changing anything, whether the worker could be resumed now in its conversation, with the environment that is given
 * or else the recorded one.
 */
export async function drillWorker(
  services: LaunchServices,
  address: string,
  worker: Worker,
  given: Record<string, string> | null = null,
): Promise<DrillResult> {
  const conversation = boundConversation(services.db, worker);
  const environment = given ?? services.environments.of(worker);
  const drilled = { address, worker, conversation, environment };
  const checks = [
    ...(await projectChecks(services, worker)),
    ...startChecks(drilled, given === null && services.environments.isLost(worker)),
    ...(conversation === null
      ? await branchChecks(services, drilled)
      : await conversationChecks(services, drilled, conversation)),
  ];
  const broken = checks.find(({ ok }) => !ok);
  const { vendor } = worker;
  return {
    address,
    ok: broken === undefined,
    reason: broken?.detail ?? null,
    ...hinted(broken?.next),
    vendor,
    unproved: (vendor !== null && adapterOf(vendor)?.unproved) || null,
    session: conversation?.vendorId ?? null,
    checks,
  };
}

/** Checks the conversation that the next start branches; nothing for a worker that branches none. */
async function branchChecks(
  services: LaunchServices,
  { address, worker, conversation }: Drilled,
): Promise<DrillCheck[]> {
  const stemId = stemIdOf(worker, conversation);
  const stem = stemId === null ? null : conversationById(services.db, stemId);
  const probe = stem && (await probeStem(services, stem.id, { drill: true }));
  if (stem === null || probe === null) return [];
  const { vendor, vendorId } = stem;
  if (probe.fault === null) return [passed("conversation", `begins as a branch of ${vendor} conversation ${vendorId}`)];
  const fresh = startVerb(worker.name, worker.fleet !== null, "--fresh");
  const next = probe.remedy === null ? fresh : hintOf`${probe.remedy}; or start over: ${fresh}`;
  return [failed("conversation", stemMessage(address, stem, probe.fault), next)];
}

async function projectChecks(services: LaunchServices, { projectId }: Worker): Promise<DrillCheck[]> {
  const project = projectById(services.db, projectId);
  if (project === null || !(await isReplaced(project))) return [];
  const { message, hint } = replacedProblem(project);
  return [failed("project", message, hint)];
}

function startChecks(drilled: Drilled, isLost: boolean): DrillCheck[] {
  const { worker, conversation, environment } = drilled;
  const command = worker.command;
  // A worker without a command is claimed by a library only: there is nothing to start.
  if (command === null) return [];
  const { name } = worker;
  const start = startVerb(name, worker.fleet !== null);
  const cwd = conversation?.launchCwd ?? worker.cwd ?? "/";
  const program = findProgram(command[0] ?? "", environment.PATH, cwd);
  const version = "file" in program ? installedVersion(program.file) : null;
  return [
    "file" in program
      ? passed("program", version === null ? program.file : `${program.file}, version ${version}`)
      : failed("program", program.missing, hintOf`install it, or give its path: ${verb("run", name, "--", "COMMAND")}`),
    isFolder(cwd)
      ? passed("folder", cwd)
      : failed(
          "folder",
          `its folder is gone: ${cwd}`,
          conversation ? adoptHint(name, conversation) : shellWords(["mkdir", "-p", cwd]),
        ),
    environmentCheck(environment, isLost, hintOf`start it once from a login shell: ${start}`),
    ...recordingChecks(drilled),
  ];
}

function environmentCheck(environment: Record<string, string>, isLost: boolean, hint: Hint): DrillCheck {
  if (isLost) return failed("environment", "the recorded environment is gone: it is in no backup of the store", hint);
  const lacking = ["PATH", "HOME"].filter((variable) => !environment[variable]);
  if (lacking.length === 0) return passed("environment", `${Object.keys(environment).length} variables recorded`);
  return failed("environment", `the recorded environment lacks ${lacking.join(" and ")}`, hint);
}

/**
 * Checks the options, variables and settings by which the next start would be refused, or would record nothing, and, for a start that
 * begins a conversation, whether that could be written.
 */
function recordingChecks({ address, worker, conversation, environment }: Drilled): DrillCheck[] {
  if (worker.vendor === null || adapterOf(worker.vendor) === null) return [];
  try {
    const spec = launchSpecOf({ command: null, cwd: null, environment, vendor: null }, worker);
    if (spec?.vendor == null || spec.vendor.noConversation) return [];
    const off = recordingOff(spec, conversation ? locationOf(conversation) : locationForNew(spec, spec.vendor));
    if (off !== null) return [failed("recording", unrecordedBy(worker.vendor, off), removalHint(off))];
    if (conversation === null) assertWritable(address, worker, spec, null);
    const lacks = missingVariables(spec, conversation ? locationOf(conversation) : locationForNew(spec, spec.vendor));
    return [
      passed("recording", "nothing that is known turns it off"),
      ...(lacks.length === 0 ? [] : [warned("variables", missingNote(worker.vendor, lacks))]),
    ];
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    return [
      failed(
        "recording",
        error.message,
        error.next.length > 0 ? error.next : verb("run", worker.name, "--", "COMMAND"),
      ),
    ];
  }
}

function adoptHint(name: string, { vendor, vendorId: id }: Conversation): Hint {
  return hintOf`continue in another folder: ${verb("adopt", name, "--vendor", vendor, "--conversation", id, "--cwd", "DIR")}`;
}

async function conversationChecks(
  services: LaunchServices,
  { address, worker, environment }: Drilled,
  conversation: Conversation,
): Promise<DrillCheck[]> {
  const adapter = adapterOf(conversation.vendor);
  if (adapter === null) {
    const hint = "use the version of perdure that bound it";
    return [failed("vendor", `perdure has no adapter for ${conversation.vendor}`, hint)];
  }
  const isOwn = (pid: number): boolean => isOwnAgent(services, worker, pid);
  const probe = await probeBinding(services, conversation, { drill: true, isOwn });
  const otherConfig = otherConfigOfStored(worker, conversation, environment);
  const { unwritable } = probe;
  const given = { vendor: conversation.vendor, noConversation: false, fresh: false, accept: false };
  const input = { ...given, otherConfig, unwritable };
  const decision = decideStart(services, { address, worker, bound: conversation }, probe, input);
  const transcript = probe.transcript ?? { state: "absent" };
  const copy = custodyOf(services.db, conversation.id);
  const carried = probe.carried ? `; the next start carries it to ${conversation.launchCwd}` : "";
  return [
    configDirCheck(conversation, probe.restored !== null),
    decision.step === "refuse"
      ? failed("conversation", decision.message, decision.hint)
      : passed("conversation", `${conversationDetail(transcript, copy, probe.restored)}${carried}`),
    ...vendorCheck(services, worker, conversation),
    ...copiedCheck(services, worker),
    custodyCheck(adapter.storage.noCopyReason, transcript, { exists: copy !== null, intact: probe.hasCopy }),
  ];
}

function otherConfigOfStored(
  worker: Worker,
  conversation: Conversation,
  environment: Record<string, string>,
): OtherConfig | null {
  try {
    const spec = launchSpecOf({ command: null, cwd: null, environment, vendor: null }, worker);
    return spec && otherConfigOf(spec, conversation);
  } catch (error) {
    // Another check says what is wrong with the command.
    if (!isPerdureError(error)) throw error;
    return null;
  }
}

/** A config dir that is gone is what the conversation check refuses for, unless the copy brings the conversation back. */
function configDirCheck({ configDir, transcript }: Conversation, restored: boolean): DrillCheck {
  if (transcript === null || isFolder(configDir)) return passed("config dir", configDir);
  return warned(
    "config dir",
    `its config dir is gone: ${configDir}${restored ? "; the next start makes it again" : ""}`,
  );
}

function custodyCheck(
  noCopyReason: string | undefined,
  transcript: Transcript,
  copy: { exists: boolean; intact: boolean },
): DrillCheck {
  if (copy.intact) return passed("custody", "perdure's copy is intact");
  if (noCopyReason !== undefined) return passed("custody", `no copy is possible: ${noCopyReason}`);
  if (copy.exists)
    return warned("custody", "perdure's copy of its conversation is damaged; the next start replaces it");
  if (transcript.state !== "good") return passed("custody", "nothing was said yet, so there is nothing to copy");
  if (transcript.bytes > CUSTODY_TRANSCRIPT_BYTES_MAX) return passed("custody", "it is too long to be copied");
  return warned("custody", "perdure has no copy of its conversation yet; the next start makes one");
}

function conversationDetail(transcript: Transcript, copy: CustodyCopy | null, restored: Restored | null): string {
  if (restored !== null)
    return `the vendor has lost it; it would be restored from perdure's copy${missingIn(restored)}`;
  if (transcript.state === "good") {
    return `${transcript.bytes} bytes${copy === null ? "" : `, ${comparedWith(copy, transcript)}`}`;
  }
  return transcript.state === "unseen" ? "only its vendor can read it" : "nothing was said in it yet";
}

/** Compares a transcript with its copy. A database may have changed anywhere; a file whose beginning was changed is refused before. */
function comparedWith({ wholeBytes: bytes, sha256 }: CustodyCopy, transcript: GoodTranscript): string {
  if (transcript.printed !== undefined && transcript.printed !== sha256) return "changed since it was copied";
  const isWhole = transcript.printed !== undefined || transcript.bytes <= bytes;
  return isWhole
    ? `the same as perdure's copy (sha256 ${sha256.slice(0, 12)}…)`
    : `of which the copy has the first ${bytes}`;
}

/** A refusal that nobody overheard may have had any reason, a missing login for one, so the next start may do better. */
function vendorCheck(services: LaunchServices, worker: Worker, conversation: Conversation): DrillCheck[] {
  const reason = worker.unresumable;
  if (reason === null || !wasRefusedByVendor(services, worker, conversation)) return [];
  if (!hasVendorWords(reason)) return [warned("vendor", `at the last start ${reason}`)];
  return [failed("vendor", reason, hintOf`see what it says: ${verb("run", worker.name)}; or start over: --fresh`)];
}

/** A state folder that was put back from a copy may know an earlier conversation of the worker than its last. */
function copiedCheck({ db }: LaunchServices, worker: Worker): DrillCheck[] {
  const since = unknownSince(db, worker, null);
  if (since === null) return [];
  const at = new Date(since).toISOString();
  return [warned("state", `this state folder is a copy as of ${at}; what the worker did since is not in it`)];
}

/** Tells whether the vendor's program itself refused the last start, although nothing is wrong as far as can be seen. */
function wasRefusedByVendor({ db }: LaunchServices, { unresumable }: Worker, { id }: Conversation): boolean {
  const last = lastEntryOfConversation(db, id);
  return unresumable !== null && last?.began === "resume" && last.proved === "pending";
}

/** Tells whether the process is the worker's own agent, which runs now. */
function isOwnAgent(services: LaunchServices, worker: Worker, pid: number): boolean {
  const isOurs = services.processes.variable(pid, "PERDURE_SOCKET") === services.paths.socket;
  return isOurs && worker.holderRun !== null && services.processes.variable(pid, "PERDURE_RUN") === worker.holderRun;
}

function passed(check: string, detail: string): DrillCheck {
  return { check, ok: true, detail, hint: null };
}

function warned(check: string, detail: string): DrillCheck {
  return { check, ok: true, detail, hint: null, warning: true };
}

function failed(check: string, detail: string, hint: HintLike): DrillCheck {
  return { check, ok: false, detail, ...hinted(hint) };
}
