import { mkdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { basename, dirname, join } from "node:path";
import { SOCKET_PATH_BYTES_MAX } from "../../../limits/index.ts";
import { homeDir } from "../../../state/paths.ts";
import { readFlags } from "../../flags.ts";
import {
  PersonaRefusal,
  type ScriptedLaunch,
  type Persona,
  type PresenceFile,
  type AgentSnapshot,
  type SessionChoice,
} from "../../persona.ts";
import { ownStart, registryFile } from "../../presence-file.ts";
import { asObject, readLines } from "../../transcript-file.ts";
import { isUuid, uuid } from "../../uuid.ts";
import { hookListener } from "./hooks.ts";
import { conversationsIn, CLAUDE_VERSION } from "./transcripts.ts";
import { outputFor } from "./output.ts";

/** Claude Code, as seen with version 2.1.325. */
export const claudePersona: Persona = {
  name: "claude",
  title: "claude",
  headless: (prompt) => ["-p", "--", prompt],

  read(argv, env): ScriptedLaunch {
    const { values, positionals } = readFlags(argv, FLAGS, (flag, problem) => {
      return new PersonaRefusal(
        problem.startsWith("Unknown") ? `error: unknown option '${flag}'` : `error: ${problem}`,
      );
    });
    const config = env.CLAUDE_CONFIG_DIR || join(homeDir(env), ".claude");
    const { print = false, verbose = false, model = "claude-scripted", "output-format": format = "text" } = values;
    const permissionMode = values["permission-mode"] ?? "default";
    const named = { resume: values.resume, id: values["session-id"], newest: values.continue ?? false };
    const conversations = conversationsIn(join(config, "projects"), values.name ?? null);
    const socket = join(config, "inbox", `${process.pid}.sock`);
    const inbox = print || socket.length > SOCKET_PATH_BYTES_MAX ? null : socket;
    const entry = registry(join(config, "sessions"), print ? "sdk-cli" : "cli", inbox);
    const launch: ScriptedLaunch = {
      session: choiceOf(named, () => conversations.newest?.(process.cwd()) ?? null),
      name: values.name ?? null,
      model,
      prompt: positionals[0] ?? null,
      headless: print ? outputFor(format, verbose, permissionMode) : null,
      conversations,
      presence: entry,
      announce: () => entry.announce(named.resume ?? named.id ?? uuid(), values.name ?? null),
    };
    if (inbox !== null) launch.openInbox = (push) => openInbox(inbox, push);
    if (values.settings !== undefined) launch.hooks = hookListener(values.settings, env, permissionMode);
    return launch;
  },
};

const FLAGS = {
  "session-id": { type: "string" },
  resume: { type: "string", short: "r" },
  continue: { type: "boolean", short: "c" },
  name: { type: "string", short: "n" },
  print: { type: "boolean", short: "p" },
  model: { type: "string" },
  "permission-mode": { type: "string" },
  settings: { type: "string" },
  "output-format": { type: "string" },
  verbose: { type: "boolean" },
  // Taken and without effect here: there are no tools to call.
  "mcp-config": { type: "string" },
  allowedTools: { type: "string" },
  "dangerously-skip-permissions": { type: "boolean" },
} as const;

interface NamedSession {
  resume: string | undefined;
  id: string | undefined;
  newest: boolean;
}

/** With `--continue`, what `--resume` names counts for nothing. */
function choiceOf({ resume, id, newest }: NamedSession, findNewest: () => string | null): SessionChoice {
  if ((resume !== undefined || newest) && id !== undefined) {
    throw new PersonaRefusal(
      "Error: --session-id can only be used with --continue or --resume if --fork-session is also specified.",
    );
  }
  if (id !== undefined && !isUuid(id)) throw new PersonaRefusal("Error: Invalid session ID. Must be a valid UUID.");
  const found = newest ? findNewest() : null;
  if (newest && found === null) throw new PersonaRefusal("No conversation found to continue");
  if (found !== null) return { kind: "resume", id: found };
  return resume === undefined ? { kind: "new", id: id ?? null } : { kind: "resume", id: resume };
}

/** Takes prompts at a socket, one frame per line. The model is told that they are not its user's. */
function openInbox(path: string, push: (line: string) => void): () => void {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  const server = createServer((socket) => {
    let text = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    socket
      .on("error", () => undefined)
      .on("end", () => {
        for (const frame of readLines(text)) {
          const { content } = asObject(frame.message);
          if (typeof content === "string") push(`Another Claude session sent a message:\n${content}`);
        }
      });
  });
  server.listen(path).unref();
  return () => {
    server.close();
    rmSync(path, { force: true });
  };
}

interface Registry extends PresenceFile {
  /** Registers what the command line names, without a status: nothing is open yet. */
  announce(session: string, name: string | null): void;
}

/** The registry has one file per process, headless ones too. The kind is "interactive" for both, as with the real claude. */
function registry(folder: string, entrypoint: string, inbox: string | null): Registry {
  const startedAt = Date.now();
  const entryOf = ({ session, cwd, name }: Pick<AgentSnapshot, "session" | "cwd" | "name">): object => ({
    pid: process.pid,
    sessionId: session,
    cwd,
    startedAt,
    procStart: ownStart(),
    version: CLAUDE_VERSION,
    kind: "interactive",
    entrypoint,
    // One is made up from the folder where none was given: a name here need not be anybody's choice.
    name: name ?? `${basename(cwd)}-${String(process.pid % 100).padStart(2, "0")}`,
    nameSource: name === null ? "derived" : "user",
    updatedAt: Date.now(),
    ...(inbox !== null && { messagingSocketPath: inbox }),
  });
  const file = registryFile(folder, ({ status, ...shown }: AgentSnapshot) => ({
    ...entryOf(shown),
    ...(status === "blocked" ? { status: "waiting", waitingFor: "permission prompt" } : { status }),
  }));
  const announced = registryFile(folder, entryOf);
  return {
    ...file,
    announce: (session, name) => announced.write({ session, name, cwd: process.cwd() }),
  };
}
