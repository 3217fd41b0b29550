import { own } from "./util/own.ts";
import { Agent } from "./scripted/agent.ts";
import { converse } from "./scripted/converse.ts";
import { takeFlag } from "./scripted/flags.ts";
import { HELD_VARIABLE } from "./scripted/held.ts";
import { Input, nothing, stdinLines, stdinWhole } from "./scripted/input.ts";
import { Refusal, type Launch, type Voice } from "./scripted/persona.ts";
import { LAYOUTS } from "./scripted/personas/index.ts";
import type { Program } from "./scripted/orders.ts";
import { readScript, type Script } from "./scripted/script.ts";
import { leaveOnSignals } from "./scripted/signals.ts";
import { personalVoice } from "./scripted/voices.ts";
import { say, sayAside } from "./scripted/write.ts";

/** perdure's own small agent: what the demo shows, and what tests start in place of a vendor's program. */
async function main(argv: string[]): Promise<number> {
  const env = { ...process.env };
  delete process.env[HELD_VARIABLE];
  const layout = takeFlag(argv, "--layout");
  const told = takeFlag(layout.rest, "--script");
  const program = programOf(layout.value ?? env.PERDURE_SCRIPTED_LAYOUT ?? "scripted");
  const script = readScript(told.value ?? env.PERDURE_SCRIPT ?? "");
  if (program.layout.title !== null) process.title = program.layout.title;

  const again = env[HELD_VARIABLE] !== undefined;
  if (!again && script.lateMs > 0) await new Promise((resolve) => setTimeout(resolve, script.lateMs));
  const launch = program.layout.read(told.rest, env);
  if ("serve" in launch) return launch.serve(stdinLines());
  if (!again && script.wrongId) launch.session = { kind: "new", id: launch.sessions.mint() };
  return play(launch, program, script);
}

async function play(launch: Launch, program: Program, script: Script): Promise<number> {
  const given = launch.prompt === null ? script.lines : [...script.lines, launch.prompt];
  const voice: Voice = launch.headless ?? personalVoice(program.name);
  const agent = new Agent(launch, voice, new Input(given, incomingOf(launch)));
  launch.settle?.(agent.view.session);
  leaveOnSignals(() => agent.leave("signal"));
  return converse(agent, program, launch.headless !== null);
}

function incomingOf({ headless, prompt }: Launch): AsyncIterator<string> {
  if (headless === null) return stdinLines();
  return prompt === null ? stdinWhole() : nothing();
}

function programOf(name: string): Program {
  const layout = own(LAYOUTS, name);
  if (layout !== undefined) return { name, layout };
  throw new Refusal(`There is no layout ${JSON.stringify(name)}; there are: ${Object.keys(LAYOUTS).join(", ")}.`, 2);
}

// Everything is written by then: output is synchronous.
main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    if (error instanceof Refusal) (error.exitCode === 0 ? say : sayAside)(error.message);
    else sayAside(error instanceof Error ? String(error.stack) : String(error));
    process.exit(error instanceof Refusal ? error.exitCode : 1);
  },
);
