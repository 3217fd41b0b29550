import { shellQuote } from "../../util/shell-quote.ts";
import type { LaunchFile } from "../launch-plan.ts";

/** The file that a launch's first hook prints to its agent, if it is there: what an earlier run left to be known. */
export const START_MESSAGE_FILE = "told";

/** The beginning of the names of the files in which hooks leave events, until the daemon has read them. */
export const EVENT_PREFIX = "event.";

/**
 * The hook script leaves what a hook was told as one file, whole or not at all, in 4 ms and without Node; works with
 * the daemon dead. The name is the process's pid: no two at a time have the same, and one that is used again counts on.
 * `silentIf` is a command of the shell that succeeds where it is not the run's own agent that calls.
 */
export function hookScript(runDir: string, silentIf?: string): LaunchFile {
  const text = `${silentIf === undefined ? "" : `if ${silentIf}; then exit 0; fi\n`}umask 077
PATH=$PATH:/usr/bin:/bin
cd ${shellQuote(runDir)} 2>/dev/null || exit 0
perdure_n=0
while [ -e "${EVENT_PREFIX}$$.$perdure_n" ]; do perdure_n=$((perdure_n + 1)); done
cat > ".$$.tmp" && mv ".$$.tmp" "${EVENT_PREFIX}$$.$perdure_n"
if [ "$1" = start ] && [ -f ${START_MESSAGE_FILE} ]; then cat ${START_MESSAGE_FILE} && rm -f ${START_MESSAGE_FILE}; fi
exit 0
`;
  return { name: "hook", text };
}

/**
 * The command that runs the hook script. Even with the run's folder gone it is silent and ends well: an agent may take
 * a failed hook for a veto.
 */
export function hookCommand(runDir: string, event: string): string {
  return `/bin/sh ${shellQuote(`${runDir}/hook`)} ${event} 2>/dev/null || :`;
}

/** The start message in the form that claude reads, and the vendors that took its hooks over. */
export function startMessageFile(text: string): LaunchFile {
  const hookSpecificOutput = { hookEventName: "SessionStart", additionalContext: text };
  return { name: START_MESSAGE_FILE, text: `${JSON.stringify({ hookSpecificOutput })}\n` };
}
