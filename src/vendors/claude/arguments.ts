import { wordSet, type ArgumentTable } from "../shared/arguments.ts";

const CUT_SHORT = "the conversation would lose what was said after that";
const NOT_HERE = "the conversation would not be on this machine";

/** Claude's command line. */
export const ARGUMENTS: ArgumentTable = {
  // Only options whose value could be mistaken for something else are listed.
  valued:
    wordSet(`--agent --agents --append-system-prompt --append-system-prompt-file --system-prompt --system-prompt-file
    --model --fallback-model --effort --settings --setting-sources --permission-mode --permission-prompt-tool
    --permission-prompts --output-format --input-format --json-schema --max-budget-usd --max-turns --plugin-dir
    --plugin-url --debug-file --environment --autocompact --system-prompt-snapshot
    --remote-control-session-name-prefix --name -n --resume-session-at --resume-drops-turn
    --rewind-files --pool --sdk-url --attach-serve`),
  optional: wordSet(
    "-r --resume --from-pr --teleport --cloud --remote -d --debug -w --worktree --prompt-suggestions --remote-control",
  ),
  many: wordSet(`--add-dir --allowedTools --allowed-tools --disallowedTools --disallowed-tools --mcp-config --betas --file
    --tools`),
  noConversation:
    wordSet(`agents attach auth auto-mode doctor gateway import install logs mcp plugin plugins purge respawn rm
    setup-token stop kill ultrareview update upgrade --init-only --version -v --help -h`),
  conflicts: {
    "--resume": "perdure chooses the conversation",
    "-r": "perdure chooses the conversation",
    "--continue": "it takes whatever conversation is newest in the folder",
    "-c": "it takes whatever conversation is newest in the folder",
    "--session-id": "perdure chooses the id",
    "--fork-session": "it would leave the worker's conversation",
    "--from-pr": "it takes another conversation",
    "--teleport": "it takes another conversation",
    "--no-session-persistence": "nothing could be resumed",
    "--resume-session-at": CUT_SHORT,
    "--resume-drops-turn": CUT_SHORT,
    "--rewind-files": "it restores files and opens no conversation; run it by hand",
    "--bg": "the process would leave its run",
    "--background": "the process would leave its run",
    "--cloud": NOT_HERE,
    "--remote": NOT_HERE,
    "--environment": NOT_HERE,
    "--pool": NOT_HERE,
    "--attach-serve": NOT_HERE,
    "--sdk-url": "its server would choose the conversation",
    "--await-claim": "its host would choose the conversation",
    "--desktop": "the conversation would not be in this process",
  },
  headless: new Set(["-p", "--print"]),
};
