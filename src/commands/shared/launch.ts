import { realpathSync } from "node:fs";
import { claimWithRetry, type ClaimRequest } from "../../client/claim.ts";
import { connectToDaemon } from "../../client/connect.ts";
import type { Environment } from "../../util/environment.ts";
import { findProgram } from "../../runtime/find-program.ts";
import { prepareLaunch, type PreparedLaunch } from "../../launch/prepare.ts";
import { adapterOf } from "../../vendors/index.ts";
import { matchCommand } from "../../vendors/match.ts";
import { callDaemon } from "./call.ts";

type LaunchClaim = Omit<ClaimRequest, "kind" | "pid">;

/** Claims a name and prepares the launch. If preparing fails, the name is released before the error is thrown. */
export async function claimForLaunch(request: LaunchClaim, env: Environment = process.env): Promise<PreparedLaunch> {
  const grant = await claimWithRetry(connectToDaemon, { ...request, kind: "run", pid: process.pid });
  const { run, generation, token } = grant;
  try {
    return await prepareLaunch(grant, env, (session) => {
      const { command, cwd, environment, vendor, prompt } = request;
      return callDaemon("bindConversation", {
        run,
        generation,
        token,
        session,
        command,
        cwd,
        environment,
        vendor,
        prompt,
      });
    });
  } catch (error) {
    await callDaemon("release", { run, generation, token });
    throw error;
  }
}

/** Finds the vendor of a command, by its words and by the file that its program resolves to; null without an adapter. */
export function matchVendor(command: readonly string[], cwd: string): ClaimRequest["vendor"] {
  const program = findProgram(command[0] ?? "", process.env.PATH, cwd);
  const match = matchCommand(command, "file" in program ? realpathSync(program.file) : null);
  return match && adapterOf(match.vendor) ? { name: match.vendor, programAt: match.programAt } : null;
}
