import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { MINT_WAIT_MS } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { isSessionId, type SessionLocation, type Transcript } from "../../protocol/records/conversation.ts";
import { statIfThere } from "../../state/files.ts";
import { homeDir } from "../../state/paths.ts";
import type { Environment } from "../../util/environment.ts";
import type { Adapter, ConfigDir } from "../adapter.ts";
import type { LaunchPlan, MintRequest, PlanRequest } from "../launch-plan.ts";
import { readArguments, wordSet, type ArgumentTable } from "../shared/arguments.ts";
import { findFile } from "../shared/find-file.ts";
import { cursorProgram } from "./program.ts";
import { cursorRelocation } from "./relocation.ts";

/**
 * Cursor is known from its documentation and from reports only: `create-chat` makes an id, `--resume ID` continues it, and
 * an unknown id silently begins a new chat. So a chat whose store is gone is refused before the start. None of this was
 * tried with the program, which is on no registry.
 */
export const cursor: Adapter = {
  vendor: "cursor",
  command: ["cursor-agent"],
  tested: [],
  unproved: cursorProgram.unproved ?? null,
  launch: {
    readArgs: (args) => readArguments(args, ARGUMENTS),
    plan,
    identity: { kind: "minted", mint },
    forks: false,
    takesFirstPrompt: false,
  },
  storage: {
    configDirOf,
    probe,
    list: async () => [],
    relocation: cursorRelocation,
    noCopyReason: "it keeps a database that only its own program reads",
  },
  liveness: {
    watchDir: () => null,
    inspect: () => [],
    holders: () => [],
  },
};

const CHOSEN = "perdure chooses the chat";

const ARGUMENTS: ArgumentTable = {
  valued: wordSet("-a --api-key -m --model --output-format -H --header --workspace --mode --sandbox"),
  optional: wordSet("--resume"),
  noConversation:
    wordSet(`login logout status whoami about models mcp update upgrade ls create-chat generate-rule rule worker
    install-shell-integration uninstall-shell-integration help -v --version -h --help`),
  conflicts: {
    "--resume": CHOSEN,
    "--continue": "it takes whatever chat is newest",
    "--workspace": "perdure starts it in the folder the chat began in",
    "--cloud": "the chat would not be on this machine",
    "-c": "the chat would not be on this machine",
  },
  headless: wordSet("-p --print"),
};

function configDirOf(env: Environment): ConfigDir {
  if (env.CURSOR_CONFIG_DIR)
    return { dir: env.CURSOR_CONFIG_DIR, variables: { CURSOR_CONFIG_DIR: env.CURSOR_CONFIG_DIR } };
  const home = homeDir(env);
  const xdg = env.XDG_CONFIG_HOME || null;
  const dir = xdg === null ? join(home, ".cursor") : join(xdg, "cursor");
  return { dir, variables: { CURSOR_CONFIG_DIR: null, XDG_CONFIG_HOME: xdg, HOME: home } };
}

/** A chat's store lies in a folder of the chat's own, or of the workspace's. The size of a database tells nothing. */
async function probe({ id, configDir }: SessionLocation): Promise<Transcript> {
  const chats = join(configDir, "chats");
  const own = join(chats, id, "store.db");
  const file = statIfThere(own)?.isFile() ? own : await inWorkspace(chats, id);
  return file === null ? { state: "absent" } : { state: "good", file, bytes: 0, version: null };
}

async function inWorkspace(chats: string, id: string): Promise<string | null> {
  const folder = await findFile(chats, 1, (name) => name === id);
  const file = folder && join(folder, "store.db");
  return file && statIfThere(file)?.isFile() ? file : null;
}

/** A chat is resumed where it began: from another folder the same id would be another chat. */
function plan({ session, args }: PlanRequest): LaunchPlan {
  return { args: ["--resume", session, ...args], files: [] };
}

async function mint({ command, cwd, environment }: MintRequest): Promise<string> {
  const [program = "", ...before] = command;
  const child = spawn(program, [...before, "create-chat"], {
    cwd,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: MINT_WAIT_MS,
  });
  let output = "";
  let errors = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  const id = output.trim().split(/\s+/).at(-1) ?? "";
  if (code === 0 && isSessionId(id)) return id;
  throw new PerdureError(
    "unavailable",
    `cursor-agent create-chat could not open a chat: ${errors.trim() || output.trim() || `exit ${code}`}.`,
    {
      hint: "cursor-agent login; cursor-agent create-chat",
    },
  );
}
