import { wordSet, type ArgumentTable } from "../shared/arguments.ts";

const CHOSEN = "perdure chooses the conversation";
const NOT_HERE = "the conversation would not be on this machine";

/** Copilot's command line. */
export const COPILOT_ARGUMENTS: ArgumentTable = {
  valued: wordSet(`-i --interactive -p --prompt --model --reasoning-effort --context --auto-tier --agent -n --name
    --session-id -C --log-dir --extension-sdk-path --log-level --stream --output-format --add-dir --attachment
    --disable-mcp-server --enable-mcp-server --add-github-mcp-toolset --add-github-mcp-tool --plugin-dir
    --additional-mcp-config --mcp-github-auth --max-autopilot-continues --mode --environment-host
    --environment-compute-id --dynamic-retrieval --max-ai-credits --usage-output-file`),
  optional: wordSet("-r --resume --worktree --connect --share --bash-env --mouse"),
  many: wordSet(`--allow-tool --deny-tool --available-tools --excluded-tools --secret-env-vars --allow-url
    --deny-url`),
  noConversation:
    wordSet(`app login help init config update version workflow sessions memories plugin mcp skill instruction lsp
    sandbox completion -v --version -h --help`),
  conflicts: {
    "--resume": CHOSEN,
    "-r": CHOSEN,
    "--session-id": CHOSEN,
    "--continue": "it takes whatever conversation is newest",
    "--connect": NOT_HERE,
    "--environment-host": NOT_HERE,
    "--worktree": "it takes no id then: start the worker in the worktree",
    "--acp": "another program would choose the conversation",
  },
  headless: wordSet("-p --prompt"),
};
