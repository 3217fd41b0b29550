import type { ArgsInfo } from "../adapter.ts";
import { hasOption, optionsOf, readArguments, tokensOf, wordSet, type ArgumentTable } from "../shared/arguments.ts";

/** The option that says something and stays for more. */
export const PROMPT_OPTION = "--prompt-interactive";

const CHOSEN = "perdure chooses the conversation";
const LOST = "nothing could be resumed";

/** Qwen's command line. */
export const QWEN_ARGUMENTS: ArgumentTable = {
  valued: wordSet(`--telemetry-target --telemetry-otlp-endpoint --telemetry-otlp-protocol --telemetry-outfile --proxy
    -m --model -p --prompt -i --prompt-interactive --system-prompt --append-system-prompt --output-style
    --sandbox-image --approval-mode --channel --mcp-config --openai-logging-dir --openai-api-key --openai-base-url
    --input-format -o --output-format --json-fd --json-file --json-schema --input-file --session-id
    --max-session-turns --max-wall-time --max-tool-calls --max-subagent-depth --auth-type`),
  optional: wordSet("-r --resume --worktree"),
  many: wordSet(`--fallback-model --allowed-mcp-server-names --allowed-tools -e --extensions --include-directories
    --add-dir --core-tools --exclude-tools --disabled-slash-commands`),
  camelCase: true,
  noConversation:
    wordSet(`auth board channel extensions hooks mcp review sandbox serve sessions update -l --list-extensions
    -v --version -h --help`),
  conflicts: {
    "--resume": CHOSEN,
    "-r": CHOSEN,
    "--session-id": CHOSEN,
    "--continue": "it takes whatever conversation is newest in the folder",
    "-c": "it takes whatever conversation is newest in the folder",
    "--fork-session": "it would leave the worker's conversation",
    "--worktree": "it finds a conversation only from the folder it began in: start the worker in the worktree",
    "--no-chat-recording": LOST,
    "--acp": "another program would choose the conversation",
  },
  headless: wordSet("-p --prompt"),
};

/** A prompt among the arguments is answered once; `-i` stays for more. */
export function readQwenArgs(args: readonly string[]): ArgsInfo {
  const reading = readArguments(args, QWEN_ARGUMENTS);
  const tokens = tokensOf(args, QWEN_ARGUMENTS);
  const prompt = reading.converses && tokens.some(({ kind }) => kind === "word" || kind === "literal");
  const stays = hasOption(args, QWEN_ARGUMENTS, "-i", PROMPT_OPTION);
  const conflict = reading.conflict ?? (turnsRecordingOff(args) ? `--chat-recording=false: ${LOST}` : null);
  return { ...reading, headless: reading.headless || (prompt && !stays), conflict };
}

/** Qwen takes anything but `true` for a no, and only `true` and `false` as a word of its own behind the option. */
function turnsRecordingOff(args: readonly string[]): boolean {
  return tokensOf(args, QWEN_ARGUMENTS).some((token) => {
    if (!optionsOf(token, QWEN_ARGUMENTS).includes("--chat-recording")) return false;
    const [, value = args[token.at + 1] === "false" ? "false" : "true"] = token.text.split("=");
    return value !== "true";
  });
}
