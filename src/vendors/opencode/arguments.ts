import { wordSet, type ArgumentTable } from "../shared/arguments.ts";

const CHOSEN = "perdure chooses the conversation";
const NEWEST = "it takes whatever conversation is newest in the folder";
export const ELSEWHERE = "a conversation belongs to the folder it began in; go there first";

/** The command line of opencode, in a terminal and of `run`. */
export const OPENCODE_ARGUMENTS: ArgumentTable = {
  valued: wordSet(`--log-level --port --hostname --mdns-domain -m --model -s --session --prompt --agent --replay-limit
    --command --format --title --attach -p --password -u --username --dir --variant`),
  many: wordSet("-f --file --cors"),
  camelCase: true,
  noConversation:
    wordSet(`completion acp mcp attach debug providers auth agent upgrade uninstall serve web models stats export
    import github pr session plugin plug db -h --help -v --version`),
  conflicts: {
    "--session": CHOSEN,
    "-s": CHOSEN,
    "--continue": NEWEST,
    "-c": NEWEST,
    "--fork": "it would leave the worker's conversation",
    "--attach": "the conversation would be in another process",
    "--dir": ELSEWHERE,
  },
  headless: new Set(["run"]),
};
