import type { DrillCheck } from "../../protocol/records/conversation.ts";
import type { DrillResult } from "../../protocol/records/conversation.ts";
import { statSync } from "node:fs";
import { CUSTODY_TRANSCRIPT_BYTES_MAX } from "../../limits/index.ts";
import { decideLaunch } from "../../core/launch.ts";
import { startCommand } from "../../protocol/names.ts";
import type { Transcript } from "../../protocol/records/conversation.ts";
import { findProgram } from "../../runtime/find-program.ts";
import { installedVersion } from "../../launch/installed-version.ts";
import { custodyOf } from "../../store/custody.ts";
import { boundConversation, type Conversation } from "../../store/conversations.ts";
import type { Worker } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import type { LaunchServices } from "./services.ts";
import { bindingOf } from "./plan.ts";
import { locationOf, probeConversation } from "../conversations/probe.ts";

/** Could this worker be resumed now, exactly? Everything is looked at, nothing is changed. */
export async function drill(services: LaunchServices, address: string, worker: Worker): Promise<DrillResult> {
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
  // A name that only a library claims: there is nothing to start.
  if (command === null) return [];
  const { name } = worker;
  const again = startCommand(name, worker.fleet !== null);
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
          `start it once from a login shell: ${again}`,
        ),
  ];
}

function adoptHint(name: string, { vendor, vendorId: id }: Conversation): string {
  return `go on elsewhere: perdure adopt ${name} --vendor ${vendor} --session ${id} --cwd DIR`;
}

async function conversationChecks(
  services: LaunchServices,
  address: string,
  worker: Worker,
  conversation: Conversation,
): Promise<DrillCheck[]> {
  const adapter = adapterOf(conversation.vendor);
  if (adapter === null) {
    return [failed("vendor", `perdure has no adapter for ${conversation.vendor}`, "use the perdure that bound it")];
  }
  const kept = custodyOf(services.db, conversation.id);
  const copyIntact = kept !== null && (await services.custody.verifiedCopy(kept)) !== null;
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
    transcript: transcript,
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
      ? passed("conversation", conversationDetail(transcript, kept?.sha256 ?? null, lost && copyIntact))
      : failed("conversation", refused.message, refused.hint),
    custodyCheck(worker, adapter.storage.noCopyReason, transcript, { kept: kept !== null, whole: copyIntact }),
  ];
}

function custodyCheck(
  { name, fleet }: Worker,
  noCopyReason: string | undefined,
  transcript: Transcript,
  copy: { kept: boolean; whole: boolean },
): DrillCheck {
  const again = startCommand(name, fleet !== null);
  if (copy.whole) return passed("custody", "a copy is kept, and is what it should be");
  if (noCopyReason !== undefined) return passed("custody", `no copy can be kept: ${noCopyReason}`);
  if (copy.kept) {
    return failed("custody", "the copy that is kept of it is damaged", `made anew at the next start: ${again}`);
  }
  if (transcript.state !== "good") return passed("custody", "nothing was said yet, so there is nothing to keep");
  if (transcript.bytes > CUSTODY_TRANSCRIPT_BYTES_MAX) return passed("custody", "it is too long to be copied");
  return failed("custody", "no copy is kept of its conversation", `made at the next start: ${again}`);
}

function conversationDetail(transcript: Transcript, sha256: string | null, fromCopy: boolean): string {
  if (fromCopy) return "the vendor has lost it; it would be put back from the copy that is kept";
  if (transcript.state === "good")
    return `${transcript.bytes} bytes${sha256 === null ? "" : `, as kept (sha256 ${sha256.slice(0, 12)}…)`}`;
  return transcript.state === "unseen" ? "its vendor alone can see it" : "nothing was said in it yet";
}

/** The worker's own agent, which runs right now. */
function isOwn(services: LaunchServices, worker: Worker, pid: number): boolean {
  const ours = services.processes.variable(pid, "PERDURE_SOCKET") === services.paths.socket;
  return ours && worker.holderRun !== null && services.processes.variable(pid, "PERDURE_RUN") === worker.holderRun;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function passed(check: string, detail: string): DrillCheck {
  return { check, ok: true, detail, hint: null };
}

function failed(check: string, detail: string, hint: string): DrillCheck {
  return { check, ok: false, detail, hint };
}
