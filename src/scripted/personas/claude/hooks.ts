import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Environment } from "../../../util/environment.ts";
import { Refusal, type Happening, type Listener, type View } from "../../persona.ts";
import { asObject, parseLine } from "../../transcript.ts";

/** The hooks of `--settings`: each is run by a shell, is told as JSON what happened, and waited for. */
export function hookListener(settings: string, env: Environment, permissionMode: string): Listener {
  const hooks = asObject(readSettings(settings).hooks);
  return async (event, view) => {
    const { name, details } = describe(event, view);
    const told = {
      session_id: view.session,
      transcript_path: view.file,
      cwd: view.cwd,
      permission_mode: permissionMode,
      hook_event_name: name,
      ...details,
    };
    const said: string[] = [];
    for (const command of commandsOf(hooks[name])) said.push(await run(command, told, hookEnvironment(env, view)));
    return said.filter((text) => text !== "").join("\n");
  };
}

function readSettings(settings: string): Readonly<Record<string, unknown>> {
  const inline = settings.trimStart().startsWith("{");
  try {
    const value = parseLine(inline ? settings : readFileSync(settings, "utf8"));
    if (value !== null) return value;
  } catch (cause) {
    throw new Refusal(`Error: Settings file not found: ${settings} (${String(cause)})`);
  }
  throw new Refusal(`Error: Invalid JSON provided to --settings`);
}

/** The vendor's name of an event, and what it tells besides what it always tells. */
function describe(event: Happening, { name, model }: View): { name: string; details: object } {
  const title = name === null ? {} : { session_title: name };
  if (event.kind === "start") return { name: "SessionStart", details: { source: event.source, model, ...title } };
  if (event.kind === "prompt") return { name: "UserPromptSubmit", details: { prompt: event.text, ...title } };
  if (event.kind === "end") return { name: "SessionEnd", details: { reason: END_REASONS[event.reason] } };
  return { name: "Stop", details: { stop_hook_active: false, last_assistant_message: event.answer } };
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

function hookEnvironment(env: Environment, view: View): Environment {
  return {
    ...env,
    CLAUDECODE: "1",
    CLAUDE_PID: String(process.pid),
    CLAUDE_CODE_SESSION_ID: view.session,
    CLAUDE_PROJECT_DIR: view.cwd,
  };
}

/** What it says on stdout; a failure is told, and stops nothing. */
async function run(command: string, told: object, env: Environment): Promise<string> {
  const { spawn } = process.getBuiltinModule("node:child_process"); // 5 ms of every start otherwise
  const child = spawn("/bin/sh", ["-c", command], { env, stdio: ["pipe", "pipe", "inherit"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));
  // One that does not read what it is told is no failure.
  child.stdin.on("error", () => undefined).end(`${JSON.stringify(told)}\n`);
  const [code] = (await once(child, "close")) as [number | null];
  return code === 0 ? said.trimEnd() : `hook ended with ${code}: ${command}`;
}
