import { basename, join } from "node:path";
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
import { isUuid } from "../../uuid.ts";
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
    const launch: ScriptedLaunch = {
      session: choiceOf(values.resume, values["session-id"]),
      name: values.name ?? null,
      model,
      prompt: positionals[0] ?? null,
      headless: print ? outputFor(format, verbose, permissionMode) : null,
      conversations: conversationsIn(join(config, "projects"), values.name ?? null),
      presence: registry(join(config, "sessions"), print ? "sdk-cli" : "cli"),
    };
    if (values.settings !== undefined) launch.hooks = hookListener(values.settings, env, permissionMode);
    return launch;
  },
};

const FLAGS = {
  "session-id": { type: "string" },
  resume: { type: "string", short: "r" },
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

function choiceOf(resume: string | undefined, id: string | undefined): SessionChoice {
  if (resume !== undefined && id !== undefined) {
    throw new PersonaRefusal("Error: --session-id can only be used with --resume if --fork-session is also specified.");
  }
  if (id !== undefined && !isUuid(id)) throw new PersonaRefusal("Error: Invalid session ID. Must be a valid UUID.");
  return resume === undefined ? { kind: "new", id: id ?? null } : { kind: "resume", id: resume };
}

/** The registry has one file per process, headless ones too. The kind is "interactive" for both, as with the real claude. */
function registry(folder: string, entrypoint: string): PresenceFile {
  const startedAt = Date.now();
  return registryFile(folder, ({ session, cwd, name, status }: AgentSnapshot) => ({
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
    ...(status === "blocked" ? { status: "waiting", waitingFor: "permission prompt" } : { status }),
    updatedAt: Date.now(),
  }));
}
