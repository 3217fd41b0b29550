import { statSync } from "node:fs";
import { claim, type ClaimRequest } from "../client/claim.ts";
import { connect } from "../client/connect.ts";
import { PerdureError } from "../protocol/errors.ts";
import type { ClaimGrant } from "../protocol/results.ts";
import { findProgram } from "../runtime/find-program.ts";
import { ask } from "./ask.ts";

export interface Launch {
  grant: ClaimGrant;
  /** With the program's absolute path. */
  command: string[];
  cwd: string;
}

/** A command used again may have lost its program or its folder: then the name is given back at once. */
export async function claimForLaunch(request: Omit<ClaimRequest, "kind" | "pid">): Promise<Launch> {
  const grant = await claim(connect, { ...request, kind: "run", pid: process.pid });
  try {
    return { grant, ...launchOf(grant) };
  } catch (error) {
    await ask("release", { run: grant.run, generation: grant.generation, token: grant.token });
    throw error;
  }
}

/** The command with its program's path, in its folder; or an error that says which of the two is gone. */
export function launchOf(grant: Pick<ClaimGrant, "address" | "name" | "command" | "cwd">): {
  command: string[];
  cwd: string;
} {
  const cwd = grant.cwd ?? process.cwd();
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
    throw new PerdureError("not-found", `The folder of ${grant.address} is gone: ${cwd}`, {
      hint: `start it where it should be: perdure run ${grant.name} -- COMMAND`,
    });
  }
  const words = grant.command ?? [];
  return { command: [programOf(words, cwd), ...words.slice(1)], cwd };
}

/** The absolute path of a command's program, or an error before anything was claimed for it. */
export function programOf(command: readonly string[], cwd: string): string {
  const program = findProgram(command[0] ?? "", process.env.PATH, cwd);
  if ("file" in program) return program.file;
  throw new PerdureError("not-found", `Cannot start ${JSON.stringify(command[0] ?? "")}: ${program.missing}.`, {
    hint: "check the spelling, or give its path",
  });
}
