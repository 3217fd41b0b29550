import { shellQuote } from "../../util/shell-quote.ts";
import type { LaunchFile } from "../launch-plan.ts";

/** The file that a launch's first hook prints to its agent, if it is there: what an earlier run left to be known. */
export const START_MESSAGE_FILE = "told";

/** The beginning of the names of the files in which hooks leave events, until the daemon has read them. */
export const EVENT_PREFIX = "event.";

/** The folder of mail that waits for the next hook: one file per hook that can hand it over, named by the hook's word. */
export const WAITING_MAIL = "mail";

/** The file with which the daemon asks code of ours inside a program to wake it. */
export const WAKE_FILE = "wake.json";

/** The file with which the daemon tells code of ours inside a program what its person sees of the worker. */
export const STATUS_LINE_FILE = "status.json";

/** The file of the waiting mail that names the conversation it is for: a hook of any other one leaves it alone. */
export const MAIL_SESSION_FILE = "session";

/** The beginning of the names of the folders that hooks have taken, followed by the hook's word: the receipts. */
export const TAKEN_PREFIX = "taken.";

/** The file in such a folder that says that the conversation shows the mail, where whoever has put it there has seen that. */
export const MAIL_SHOWN_FILE = "shown";

/** The file in such a folder with the reason why the mail was not handed over. */
export const MAIL_FAILED_FILE = "failed";

/** The file with the size of the conversation after mail was put into it: only what is added to that is the program's. */
export const DEPOSITED_FILE = "deposited";

/** Returns the pid of the agent that a file of an event was left by; undefined where its name does not tell. */
export function processOfEvent(name: string): number | undefined {
  const pid = /\.p([1-9][0-9]{0,8})$/.exec(name)?.[1];
  return pid === undefined ? undefined : Number(pid);
}

/**
 * The hook script leaves what a hook was told as one file, whole or not at all, in 4 ms and without Node; works with
 * the daemon dead. The name is the process's pid: no two at a time have the same, and one that is used again counts on.
 * The agent's own pid is its ending. Waiting mail is taken by a rename, which only one hook can win, and printed.
 * `silentIf` is a command of the shell that succeeds where it is not the run's own agent that calls.
 */
export function hookScript(runDir: string, silentIf?: string): LaunchFile {
  const text = `${silentIf === undefined ? "" : `if ${silentIf}; then exit 0; fi\n`}umask 077
PATH=$PATH:/usr/bin:/bin
cd ${shellQuote(runDir)} 2>/dev/null || exit 0
perdure_n=0
while [ -e "${EVENT_PREFIX}$$.$perdure_n.p$2" ] || [ -e "${TAKEN_PREFIX}$1.$$.$perdure_n" ]; do perdure_n=$((perdure_n + 1)); done
cat > ".$$.tmp"
if [ "$1" = start ] && [ -f ${START_MESSAGE_FILE} ]; then cat ${START_MESSAGE_FILE} && rm -f ${START_MESSAGE_FILE}
elif [ -f "${WAITING_MAIL}/$1" ] && grep -qE "\\"session_?[iI]d\\": *\\"$(cat ${WAITING_MAIL}/${MAIL_SESSION_FILE})\\"" ".$$.tmp" &&
  ! grep -qE '${NOT_NOW}' ".$$.tmp" && mv ${WAITING_MAIL} "${TAKEN_PREFIX}$1.$$.$perdure_n"; then
  cat "${TAKEN_PREFIX}$1.$$.$perdure_n/$1"
fi
mv ".$$.tmp" "${EVENT_PREFIX}$$.$perdure_n.p$2"
exit 0
`;
  return { name: "hook", text };
}

/**
 * Matches the event of a hook that must not take mail: of a turn that a hook has prolonged already, of an agent inside the agent, or of
 * a prompt in which nobody has said anything: qwen calls that hook behind each tool, and then puts down nowhere what the hook has told.
 * An event that only quotes these words takes no mail either; the next one does.
 */
const NOT_NOW = '"stop_hook_active": *true|"(agent_id|parentAgentId)"|"prompt": *""';

/**
 * The command that runs the hook script. Even with the run's folder gone it is silent and ends well: an agent may take
 * a failed hook for a veto. The shell that an agent runs it in is the agent's own child, and knows its pid.
 */
export function hookCommand(runDir: string, event: string): string {
  return `/bin/sh ${shellQuote(`${runDir}/hook`)} ${event} "$PPID" 2>/dev/null || :`;
}

/** The start message in the form that claude reads, and the vendors that took its hooks over. */
export function startMessageFile(text: string): LaunchFile {
  const hookSpecificOutput = { hookEventName: "SessionStart", additionalContext: text };
  return { name: START_MESSAGE_FILE, text: `${JSON.stringify({ hookSpecificOutput })}\n` };
}
