import { wordSet, type ArgumentTable } from "../shared/arguments.ts";

const CHOSEN = "perdure chooses the conversation";
const ANOTHER_FOLDER = "the conversation would be in another folder every time";
const ELSEWHERE = "in a sandbox its conversations are out of reach";
const CLIENT = "its client would choose the conversation";

/** Gemini's command line. */
export const GEMINI_ARGUMENTS: ArgumentTable = {
  valued: wordSet(`-m --model -p --prompt -i --prompt-interactive --approval-mode --policy --admin-policy
    --allowed-mcp-server-names --allowed-tools -e --extensions --session-file --session-id --delete-session
    --include-directories -o --output-format`),
  optional: wordSet("-r --resume -w --worktree"),
  camelCase: true,
  noConversation: wordSet(`mcp extensions extension skills skill hooks hook gemma --list-extensions -l --list-sessions
    --delete-session --version -v --help -h`),
  conflicts: {
    "--resume": CHOSEN,
    "-r": CHOSEN,
    "--session-id": "perdure chooses the id",
    "--session-file": "it takes another conversation",
    "--worktree": ANOTHER_FOLDER,
    "-w": ANOTHER_FOLDER,
    "--sandbox": ELSEWHERE,
    "-s": ELSEWHERE,
    "--acp": CLIENT,
    "--experimental-acp": CLIENT,
  },
  headless: wordSet("-p --prompt"),
};
