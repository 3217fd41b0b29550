import { CUSTODY_TRANSCRIPT_BYTES_MAX } from "../../limits/index.ts";
import { decideLaunch } from "../../core/launch.ts";
import { startCommand } from "../../protocol/names.ts";
import type { DrillCheck, DrillResult, Transcript } from "../../protocol/records/conversation.ts";
import { findProgram } from "../../runtime/find-program.ts";
import { installedVersion } from "../../launch/installed-version.ts";
import { custodyOf } from "../../store/custody.ts";
import { boundConversation, type Conversation } from "../../store/conversations.ts";
import type { Worker } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import { isFolder } from "../../state/files.ts";
import { locationOf, probeConversation } from "../conversations/probe.ts";
import type { LaunchServices } from "./services.ts";
import { bindingOf } from "./plan.ts";

/** Checks, without changing anything, whether the worker could be resumed now in its conversation. */
export async function drillWorker(services: LaunchServices, address: string, worker: Worker): Promise<DrillResult> {
  const conversation = boundConversation(services.db, worker);
  const checks = [
    ...startChecks(worker, conversation),
    ...(conversation === null ? [] : await conversationChecks(services, address, worker, conversation)),
  ];
  const broken = checks.find(({ ok }) => !ok);
  const { vendor } = worker;
  return {
    address,
    ok: broken === undefined,
    reason: broken?.detail ?? null,
    hint: broken?.hint ?? null,
    vendor,
    unproved: (vendor !== null && adapterOf(vendor)?.unproved) || null,
    session: conversation?.vendorId ?? null,
    checks,
  };
}

function startChecks(worker: Worker, conversation: Conversation | null): DrillCheck[] {
  const command = worker.command;
  // A worker without a command is claimed by a library only: there is nothing to start.
  if (command === null) return [];
  const { name } = worker;
  const start = startCommand(name, worker.fleet !== null);
  const environment = worker.environment;
  const cwd = conversation?.launchCwd ?? worker.cwd ?? "/";
  const program = findProgram(command[0] ?? "", environment.PATH, cwd);
  const lacking = ["PATH", "HOME"].filter((variable) => !environment[variable]);
  const version = "file" in program ? installedVersion(program.file) : null;
  return [
    "file" in program
      ? passed("program", version === null ? program.file : `${program.file}, version ${version}`)
      : failed("program", program.missing, `install it, or give its path: perdure run ${name} -- COMMAND`),
    isFolder(cwd)
      ? passed("folder", cwd)
      : failed(
          "folder",
          `its folder is gone: ${cwd}`,
          conversation ? adoptHint(name, conversation) : `mkdir -p ${cwd}`,
        ),
    lacking.length === 0
      ? passed("environment", `${Object.keys(environment).length} variables recorded`)
      : failed(
          "environment",
          `the recorded environment lacks ${lacking.join(" and ")}`,
          `start it once from a login shell: ${start}`,
        ),
  ];
}

function adoptHint(name: string, { vendor, vendorId: id }: Conversation): string {
  return `continue in another folder: perdure adopt ${name} --vendor ${vendor} --conversation ${id} --cwd DIR`;
}

async function conversationChecks(
  services: LaunchServices,
  address: string,
  worker: Worker,
  conversation: Conversation,
): Promise<DrillCheck[]> {
  const adapter = adapterOf(conversation.vendor);
  if (adapter === null) {
    const hint = "use the version of perdure that bound it";
    return [failed("vendor", `perdure has no adapter for ${conversation.vendor}`, hint)];
  }
  const copy = custodyOf(services.db, conversation.id);
  const copyIntact = copy !== null && (await services.custody.verifiedCopy(copy)) !== null;
  const transcript = await services.custody.checkAgainstCopy(
    conversation,
    await probeConversation(services, conversation),
    true,
  );
  const others = adapter.liveness
    .holders(locationOf(conversation), services.processes)
    .filter(({ pid }) => !isOwn(services, worker, pid));
  const decision = decideLaunch({
    address,
    name: worker.name,
    inPane: worker.fleet !== null,
    vendor: conversation.vendor,
    noConversation: false,
    fresh: false,
    binding: bindingOf(services, conversation, copyIntact),
    transcript,
    holder: others[0] ?? null,
  });
  const lost = transcript.state === "absent" || transcript.state === "empty";
  const refused = decision.step === "refuse" && !(others.length === 0 && lost && copyIntact) ? decision : null;
  return [
    conversation.transcript === null || isFolder(conversation.configDir)
      ? passed("config dir", conversation.configDir)
      : failed(
          "config dir",
          `its config dir is gone: ${conversation.configDir}`,
          `put it back, or: ls ${conversation.configDir}`,
        ),
    refused === null
      ? passed("conversation", conversationDetail(transcript, copy?.sha256 ?? null, lost && copyIntact))
      : failed("conversation", refused.message, refused.hint),
    custodyCheck(worker, adapter.storage.noCopyReason, transcript, { exists: copy !== null, intact: copyIntact }),
  ];
}

function custodyCheck(
  { name, fleet }: Worker,
  noCopyReason: string | undefined,
  transcript: Transcript,
  copy: { exists: boolean; intact: boolean },
): DrillCheck {
  const start = startCommand(name, fleet !== null);
  if (copy.intact) return passed("custody", "perdure's copy is intact");
  if (noCopyReason !== undefined) return passed("custody", `no copy is possible: ${noCopyReason}`);
  if (copy.exists) {
    return failed("custody", "perdure's copy of its conversation is damaged", `the next start replaces it: ${start}`);
  }
  if (transcript.state !== "good") return passed("custody", "nothing was said yet, so there is nothing to copy");
  if (transcript.bytes > CUSTODY_TRANSCRIPT_BYTES_MAX) return passed("custody", "it is too long to be copied");
  return failed("custody", "perdure has no copy of its conversation", `the next start makes one: ${start}`);
}

function conversationDetail(transcript: Transcript, sha256: string | null, fromCopy: boolean): string {
  if (fromCopy) return "the vendor has lost it; it would be restored from perdure's copy";
  if (transcript.state === "good")
    return `${transcript.bytes} bytes${sha256 === null ? "" : `, as in the copy (sha256 ${sha256.slice(0, 12)}…)`}`;
  return transcript.state === "unseen" ? "only its vendor can read it" : "nothing was said in it yet";
}

/** Tells whether the process is the worker's own agent, which runs now. */
function isOwn(services: LaunchServices, worker: Worker, pid: number): boolean {
  const isOurs = services.processes.variable(pid, "PERDURE_SOCKET") === services.paths.socket;
  return isOurs && worker.holderRun !== null && services.processes.variable(pid, "PERDURE_RUN") === worker.holderRun;
}

function passed(check: string, detail: string): DrillCheck {
  return { check, ok: true, detail, hint: null };
}

function failed(check: string, detail: string, hint: string): DrillCheck {
  return { check, ok: false, detail, hint };
}
