import { realpathSync } from "node:fs";
import { claimWithRetry, type ClaimRequest } from "../../../client/claim.ts";
import type { Environment } from "../../../util/environment.ts";
import { processTable } from "../../../runtime/process/index.ts";
import { holdRunFifo } from "../../../runtime/process/run-fifo.ts";
import { findProgram } from "../../../runtime/find-program.ts";
import { prepareLaunch, type LaunchHelpers, type PreparedLaunch } from "../../../launch/prepare.ts";
import { matchCommand } from "../../../vendors/match.ts";
import { callDaemon, daemonClient } from "../call.ts";

type LaunchClaim = Omit<ClaimRequest, "kind" | "pid" | "namespace">;

/** Claims a name and prepares the launch. If preparing fails, the name is released before the error is thrown. */
export async function claimForLaunch(request: LaunchClaim, env: Environment = process.env): Promise<PreparedLaunch> {
  const holder = { kind: "run", pid: process.pid, namespace: processTable().namespace() } as const;
  const grant = await claimWithRetry(daemonClient, { ...request, ...holder });
  // The run's fifo is kept open until the wrapper, which this process becomes, has opened it itself.
  const letGo = holdRunFifo(grant.runDir);
  const { run, generation, token } = grant;
  try {
    const bind: LaunchHelpers["bind"] = async (session) => {
      const { command, cwd, environment, scope, own, vendor, prompt, fresh } = request;
      const client = await daemonClient();
      const params = { run, generation, token, session, command, cwd, vendor, prompt };
      if (client.isOlder) {
        return client.call("bindConversation", { ...params, environment: { ...environment, ...own } });
      }
      return client.call("bindConversation", { ...params, environment, scope, own, fresh });
    };
    return await prepareLaunch(grant, env, { ...LOADED_LATE, bind });
  } catch (error) {
    letGo();
    await callDaemon("release", { run, generation, token });
    throw error;
  }
}

/** The adapters are three times the rest of `run`, and the start of a known worker needs none: the daemon has planned it. */
export const LOADED_LATE: Pick<LaunchHelpers, "adapterOf" | "deposit"> = {
  adapterOf: async (vendor) => (await import("../../../vendors/index.ts")).adapterOf(vendor),
  deposit: async (...launch) => (await import("../../../launch/deposit.ts")).depositMail(...launch),
};

/** Finds the vendor of a command, by its words and by the file that its program resolves to; null without an adapter. */
export function matchVendor(command: readonly string[], cwd: string): ClaimRequest["vendor"] {
  const program = findProgram(command[0] ?? "", process.env.PATH, cwd);
  const match = matchCommand(command, "file" in program ? realpathSync(program.file) : null);
  return match && { name: match.vendor, programAt: match.programAt };
}
