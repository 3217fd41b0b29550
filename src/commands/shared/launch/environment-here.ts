import { userConfigFile } from "../../../state/paths.ts";
import { readUserConfig, type Config } from "../../../project/config/read.ts";
import type { GivenEnvironment } from "../../../protocol/records/environment.ts";
import { isBelowAgent } from "../../../launch/nesting.ts";
import { environmentToRecord, type RecordingRules } from "../../../launch/recorded-environment.ts";
import { processTable } from "../../../runtime/process/index.ts";
import { isTerminal, type Output } from "../output.ts";

/** Returns what of this process's environment is recorded for the later starts of the workers that it starts. */
export function environmentHere(project: Config, out: Output): Omit<GivenEnvironment, "own"> {
  const { environment, scope, unreadable } = environmentToRecord(process.env, rulesHere(project));
  if (unreadable.length > 0) {
    const names = unreadable.join(", ");
    out.note(`perdure: not recorded for later starts, because the value is not UTF-8 text: ${names}`);
  }
  return { environment, scope };
}

/** Returns the variables that are recorded whoever calls, for a call that only looks. */
export function knownEnvironmentHere(project: Config): Record<string, string> {
  return environmentToRecord(process.env, { ...rulesHere(project), keep: "known", atTerminal: false }).environment;
}

function rulesHere(project: Config): RecordingRules {
  const user = readUserConfig(userConfigFile(process.env));
  const names = [...(user.policy?.environment ?? []), ...(project.policy?.environment ?? [])];
  return { keep: user.environment?.keep ?? "all", names, atTerminal: isPersonAtTerminal() };
}

/**
 * Tells whether a person typed the command at a terminal. A script, a job and a pipe have no terminal to read from; an agent may give
 * its shell one, and its environment is the agent's, with everything that the agent keeps from its tools left out.
 */
function isPersonAtTerminal(): boolean {
  return isTerminal(0) && !process.env.PERDURE_RUN && !isBelowAgent(processTable(), process.pid);
}
