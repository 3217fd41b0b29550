import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Environment } from "../../../util/environment.ts";
import { PersonaRefusal, type AgentEvent, type HookListener, type AgentSnapshot } from "../../persona.ts";
import { asObject, parseLine } from "../../transcript-file.ts";
import { beginPrompt } from "./transcripts.ts";

/** The hooks of `--settings`: a shell runs each one, with the event as JSON on its standard input, and the agent waits for it. */
export function hookListener(settings: string, env: Environment, permissionMode: string): HookListener {
  const hooks = asObject(readSettings(settings).hooks);
  return async (event, snapshot) => {
    const { name, details } = describe(event, snapshot);
    const input = {
      session_id: snapshot.session,
      transcript_path: snapshot.file,
      cwd: snapshot.cwd,
      permission_mode: permissionMode,
      hook_event_name: name,
      ...details,
    };
    const printed: string[] = [];
    const context: string[] = [];
    for (const command of commandsOf(hooks[name])) {
      const text = await run(command, input, hookEnvironment(env, snapshot));
      const added = asObject(asObject(parseLine(text)).hookSpecificOutput).additionalContext;
      if (typeof added === "string") context.push(name === "Stop" ? `Stop hook additional context: ${added}` : added);
      else if (text !== "") printed.push(text);
    }
    return { printed: printed.join("\n"), context };
  };
}

function readSettings(settings: string): Readonly<Record<string, unknown>> {
  const inline = settings.trimStart().startsWith("{");
  try {
    const value = parseLine(inline ? settings : readFileSync(settings, "utf8"));
    if (value !== null) return value;
  } catch (cause) {
    throw new PersonaRefusal(`Error: Settings file not found: ${settings} (${String(cause)})`);
  }
  throw new PersonaRefusal(`Error: Invalid JSON provided to --settings`);
}

/** The vendor's name of an event, and the fields that only this event has. */
function describe(event: AgentEvent, { name, model }: AgentSnapshot): { name: string; details: object } {
  const title = name === null ? {} : { session_title: name };
  if (event.kind === "start") return { name: "SessionStart", details: { source: event.source, model, ...title } };
  if (event.kind === "prompt")
    return { name: "UserPromptSubmit", details: { prompt: event.text, prompt_id: beginPrompt(), ...title } };
  if (event.kind === "end") return { name: "SessionEnd", details: { reason: END_REASONS[event.reason] } };
  return { name: "Stop", details: { stop_hook_active: event.prolonged, last_assistant_message: event.answer } };
}

const END_REASONS = { exit: "prompt_input_exit", signal: "other", clear: "clear", resume: "resume" } as const;

/** `[{ "hooks": [{ "type": "command", "command": "…" }] }]` */
function commandsOf(groups: unknown): string[] {
  return listOf(groups)
    .flatMap((group) => listOf(asObject(group).hooks))
    .flatMap((hook) => {
      const { command } = asObject(hook);
      return typeof command === "string" ? [command] : [];
    });
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function hookEnvironment(env: Environment, snapshot: AgentSnapshot): Environment {
  return {
    ...env,
    CLAUDECODE: "1",
    CLAUDE_PID: String(process.pid),
    CLAUDE_CODE_SESSION_ID: snapshot.session,
    CLAUDE_PROJECT_DIR: snapshot.cwd,
  };
}

/** Runs one hook and returns what it printed; a failure is returned as text too, and stops nothing. */
async function run(command: string, input: object, env: Environment): Promise<string> {
  const { spawn } = process.getBuiltinModule("node:child_process"); // 5 ms of every start otherwise
  const child = spawn("/bin/sh", ["-c", command], { env, stdio: ["pipe", "pipe", "inherit"] });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (printed += chunk));
  // A hook that does not read its input is no failure.
  child.stdin.on("error", () => undefined).end(`${JSON.stringify(input)}\n`);
  const [code] = (await once(child, "close")) as [number | null];
  return code === 0 ? printed.trimEnd() : `hook ended with ${code}: ${command}`;
}
