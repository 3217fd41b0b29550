import { wordSet, type ArgumentTable } from "../shared/arguments.ts";

/** Options for images, which belong to what is said. */
export const IMAGES = wordSet("-i --image");

/** Codex's command line. */
export const CODEX_ARGUMENTS: ArgumentTable = {
  valued: wordSet(`-c --config --enable --disable --remote --remote-auth-token-env -m --model --local-provider
    -p --profile -s --sandbox -C --cd --add-dir -a --ask-for-approval --thread-source --cyber-access-program --output-schema -o --output-last-message --color`),
  many: IMAGES,
  noConversation:
    wordSet(`agents review login logout mcp plugin app-server remote-control completion update doctor sandbox debug
    apply a queue archive delete migrate-rollouts migrate-nfs-db unarchive cloud exec-server features help --version -V --help -h`),
  conflicts: {
    "--last": "it takes whatever conversation is newest",
    "--ephemeral": "nothing could be resumed",
    "--worktree": "it takes no existing conversation then: start the worker in the worktree",
    "--remote": "the conversation would not be on this machine",
  },
  headless: new Set(["exec", "e"]),
};
