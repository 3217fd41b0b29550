import { existsSync } from "node:fs";
import { resolve, sep } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ADOPT_RETRY_MS, PROCESS_END_POLL_MS } from "../../../limits/index.ts";
import { readProjectConfig } from "../../../project/config/read.ts";
import type { FoundProject } from "../../../project/find.ts";
import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { isPerdureError, PerdureError } from "../../../protocol/errors.ts";
import type { FoundRecord } from "../../../protocol/records/conversation.ts";
import { isErrno, isFolder } from "../../../state/files.ts";
import { realPath } from "../../../state/paths.ts";
import { callDaemon, daemonClient, listFromDaemon } from "../call.ts";
import { environmentHere, knownEnvironmentHere } from "../launch/environment-here.ts";
import { projectRefHere, targetOf } from "../here.ts";
import { printable, type Output } from "../output.ts";

/** Lists the conversations of every installed vendor, or of one, newest first. */
export async function conversationsFor(found: FoundProject, vendor: string | null): Promise<FoundRecord[]> {
  const params = { vendor, cwd: process.cwd(), environment: knownEnvironmentHere(readProjectConfig(found)) };
  return (await listFromDaemon("findConversations", params)).items;
}

/** Says whether a folder lies in the project's root or in the working tree of the current folder. */
export function isInside(found: FoundProject, cwd: string | null): boolean {
  if (cwd === null) return false;
  const real = realPath(cwd);
  return [found.root, found.here].some((folder) => real === folder || real.startsWith(`${folder}${sep}`));
}

interface Adoption {
  name: string;
  vendor: string;
  session: string;
  /** The folder it began in; null where that is not known. */
  cwd: string | null;
  /** The folder was given, so it is an error if there is none. */
  mustExist?: boolean;
  /** The transcript, where it lies elsewhere than the vendor looks for it. */
  transcript?: string;
  /** Waits for a process that has the conversation open, instead of a refusal. */
  live: boolean;
}

/** Binds a worker to a conversation. */
export async function adoptFound(
  found: FoundProject,
  { name, vendor, session, cwd: began, mustExist = false, transcript, live }: Adoption,
  out: Output,
): Promise<CallResults["adopt"]> {
  const cwd = resolve(began !== null && (mustExist || existsSync(began)) ? began : ".");
  if (!isFolder(cwd)) {
    throw new PerdureError("not-found", `There is no folder ${cwd}.`, { hint: "--cwd is the folder it began in" });
  }
  const target = targetOf(name, projectRefHere(found));
  const given = environmentHere(readProjectConfig(found), out);
  const environment = (await daemonClient()).isOlder ? { environment: given.environment } : given;
  const params = { target, vendor, session, cwd, ...(transcript === undefined ? {} : { transcript }), ...environment };
  for (let told = false; ; told = true) {
    const adopted = await adoptUnlessOpen(params, live);
    if (typeof adopted !== "number") return adopted;
    if (!told)
      out.note(printable(`${name}: waiting for pid ${adopted}, which has the conversation open: quit it there`));
    await untilEnded(adopted);
  }
}

/** Adopts, or returns the pid that has the conversation open, where that is to be waited for. */
async function adoptUnlessOpen(params: CallParams<"adopt">, live: boolean): Promise<CallResults["adopt"] | number> {
  try {
    return await callDaemon("adopt", params);
  } catch (error) {
    const pid = isPerdureError(error) ? error.details?.openIn : undefined;
    if (!live || typeof pid !== "number") throw error;
    return pid;
  }
}

/** Waits until a process has ended, for some seconds at most: its pid may be another's by then, and the daemon knows. */
async function untilEnded(pid: number): Promise<void> {
  for (let waited = 0; waited < ADOPT_RETRY_MS; waited += PROCESS_END_POLL_MS) {
    await sleep(PROCESS_END_POLL_MS);
    if (!isThere(pid)) return;
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if (isErrno(error, "EPERM")) return true;
    if (isErrno(error, "ESRCH")) return false;
    throw error;
  }
}
