import { wordSet, type ArgumentTable } from "../shared/arguments.ts";

const CHOSEN = "perdure chooses the conversation";

/** The command line of the scripted agent. */
export const SCRIPTED_ARGUMENTS: ArgumentTable = {
  valued: wordSet("--model --name --script --persona --layout --session-id --resume --fork"),
  noConversation: wordSet("--help --version"),
  conflicts: { "--session-id": CHOSEN, "--resume": CHOSEN, "--fork": CHOSEN },
  headless: wordSet("-p --print"),
};
