import { own } from "./util/own.ts";
import { Agent } from "./scripted/agent.ts";
import { converse } from "./scripted/converse.ts";
import { takeFlag } from "./scripted/flags.ts";
import { Input, nothing, stdinLines, stdinWhole } from "./scripted/input.ts";
import { interactiveOutput } from "./scripted/outputs.ts";
import {
  REEXEC_VARIABLE,
  PersonaRefusal,
  type ConversationStore,
  type OpenConversation,
  type AgentOutput,
  type Persona,
  type ScriptedLaunch,
} from "./scripted/persona.ts";
import { claudePersona } from "./scripted/personas/claude/index.ts";
import { codexPersona } from "./scripted/personas/codex/index.ts";
import { INBOX_VARIABLE, scriptedPersona } from "./scripted/personas/scripted.ts";
import { answersMail } from "./scripted/mail-habits.ts";
import { print, printError } from "./scripted/print.ts";
import { leaveOnSignals } from "./scripted/signals.ts";

const PERSONAS: Readonly<Record<string, Persona>> = {
  scripted: scriptedPersona,
  claude: claudePersona,
  codex: codexPersona,
};

/** The scripted agent: `perdure demo` shows it, and tests start it in place of a vendor's program. */
async function main(argv: string[]): Promise<number> {
  const env = { ...process.env };
  delete process.env[REEXEC_VARIABLE];
  delete process.env[INBOX_VARIABLE];
  const { name, rest } = takePersona(argv);
  const { value: scriptFlag, rest: args } = takeFlag(rest, "--script");
  const persona = personaOf(name ?? env.PERDURE_SCRIPTED_PERSONA ?? "scripted");
  const script = readScript(scriptFlag ?? env.PERDURE_SCRIPT ?? "");
  if (persona.title !== null) process.title = persona.title;

  const again = env[REEXEC_VARIABLE] !== undefined;
  if (!again && script.lateMs > 0) await new Promise((resolve) => setTimeout(resolve, script.lateMs));
  const launch = persona.read(args, env);
  if ("serve" in launch) return launch.serve(stdinLines());
  if (script.obeysMail) launch.turnOrders = (await import("./scripted/turn-orders.ts")).TURN_ORDERS;
  if (script.answersMailBy !== null) launch.habit = answersMail(script.answersMailBy);
  if (script.unrecorded) launch.conversations = unrecorded(launch.conversations);
  if (!again) launch.announce?.();
  if (!again && script.openingMs > 0) await new Promise((resolve) => setTimeout(resolve, script.openingMs));
  if (!again && script.wrongId) launch.session = { kind: "new", id: launch.conversations.mint() };
  return play(launch, persona, script);
}

/** `--layout` is the former name of `--persona`, and still works. */
function takePersona(argv: string[]): { name: string | null; rest: string[] } {
  const persona = takeFlag(argv, "--persona");
  const layout = takeFlag(persona.rest, "--layout");
  return { name: persona.value ?? layout.value, rest: layout.rest };
}

function personaOf(name: string): Persona {
  const persona = own(PERSONAS, name);
  if (persona !== undefined) return persona;
  throw new PersonaRefusal(
    `There is no persona ${JSON.stringify(name)}; there are: ${Object.keys(PERSONAS).join(", ")}.`,
    2,
  );
}

/** A parsed `--script`: the lines to hear before any input, and how to misbehave at the launch itself. */
interface Script {
  lines: string[];
  /** The agent takes another id than the one it was asked for, and says nothing about it. */
  wrongId: boolean;
  /** The agent writes nothing of what is said to its transcript. */
  unrecorded: boolean;
  /** The perdure with which the agent answers all its mail; null for an agent that does not. */
  answersMailBy: string | null;
  /** The agent does what words in its prompts say: `[[sleep 500]]`. */
  obeysMail: boolean;
  /** The agent shows no sign of life for so long. */
  lateMs: number;
  /** The agent takes so long to open its conversation, after it has shown what its command line names. */
  openingMs: number;
}

/** `late 200; opening 50; wrong-id; hello; /crash 3` */
function readScript(text: string): Script {
  const items = text
    .split(";")
    .map((item) => item.trim())
    .filter((item) => item !== "");
  const msOf = (word: string): number =>
    Number(items.find((item) => new RegExp(`^${word} \\d+$`).test(item))?.slice(word.length + 1) ?? 0);
  return {
    lines: items.filter((item) => !/^(wrong-id|unrecorded|obeys-mail|(late|opening) \d+|answers-mail \S+)$/.test(item)),
    wrongId: items.includes("wrong-id"),
    unrecorded: items.includes("unrecorded"),
    obeysMail: items.includes("obeys-mail"),
    answersMailBy: items.find((item) => item.startsWith("answers-mail "))?.slice("answers-mail ".length) ?? null,
    lateMs: msOf("late"),
    openingMs: msOf("opening"),
  };
}

/** The same conversations with recording turned off: what is there can be opened, and nothing is added to it. */
function unrecorded(conversations: ConversationStore): ConversationStore {
  const forgetful = ({ id, file, name, turns }: OpenConversation): OpenConversation => {
    const kept = [...turns];
    return { id, file, name, turns: kept, append: (turn) => void kept.push(turn) };
  };
  return {
    mint: () => conversations.mint(),
    begin: (id, cwd) => forgetful(conversations.begin(id, cwd)),
    resume: (id) => forgetful(conversations.resume(id)),
  };
}

async function play(launch: ScriptedLaunch, persona: Persona, script: Script): Promise<number> {
  const given = launch.prompt === null ? script.lines : [...script.lines, launch.prompt];
  const output = launch.headless ?? interactiveOutput(persona.name);
  const agent = openAgent(launch, output, new Input(given, incomingOf(launch)));
  launch.beforeStart?.(agent.snapshot.session);
  leaveOnSignals(() => agent.leave("signal"));
  return converse(agent, persona, launch.headless !== null);
}

/** One that refuses to open its conversation takes back what it has shown of its command line. */
function openAgent(launch: ScriptedLaunch, output: AgentOutput, input: Input): Agent {
  try {
    return new Agent(launch, output, input);
  } catch (error) {
    launch.presence?.remove();
    throw error;
  }
}

function incomingOf({ headless, prompt }: ScriptedLaunch): AsyncIterator<string> {
  if (headless === null) return stdinLines();
  return prompt === null ? stdinWhole() : nothing();
}

// Everything is written by then: output is synchronous.
main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    if (error instanceof PersonaRefusal) (error.exitCode === 0 ? print : printError)(error.message);
    else printError(error instanceof Error ? String(error.stack) : String(error));
    process.exit(error instanceof PersonaRefusal ? error.exitCode : 1);
  },
);
