import { wordSet, type ArgumentTable } from "../shared/arguments.ts";

const CHOSEN = "perdure chooses the conversation";
const NEWEST = "it takes whatever conversation is newest in the folder";

/** Pi's command line. */
export const PI_ARGUMENTS: ArgumentTable = {
  valued:
    wordSet(`--provider --model --api-key --system-prompt --append-system-prompt --mode --name -n --models --tools -t
    --exclude-tools -xt --thinking --extension -e --skill --prompt-template --theme --use-theme --tui-mode --session
    --session-id --session-dir --fork --export`),
  optional: wordSet("--list-models"),
  whole: true,
  noConversation: wordSet("--export --list-models -h --help -v --version"),
  conflicts: {
    "--session": CHOSEN,
    "--session-id": "perdure chooses the id",
    "--session-dir": "it would be looked for elsewhere; set PI_CODING_AGENT_SESSION_DIR instead",
    "--resume": CHOSEN,
    "-r": CHOSEN,
    "--continue": NEWEST,
    "-c": NEWEST,
    "--fork": "it would leave the worker's conversation",
    "--no-session": "nothing could be resumed",
  },
  headless: wordSet("-p --print"),
};
