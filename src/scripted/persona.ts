import type { Environment } from "../util/environment.ts";
import type { TurnOrders } from "./turn-orders.ts";

/** A persona is how one vendor's program looks from outside: its flags, its files, its output. Each has one entry in personas/. */
export interface Persona {
  name: string;
  /** The process title; null leaves the command line as it is. */
  title: string | null;
  /** The words after the program's name for one headless prompt: how an agent of this kind starts another. */
  headless(prompt: string): string[];
  /** Reads a command line. Throws a Refusal where this vendor would refuse. */
  read(argv: string[], env: Environment): ScriptedLaunch | StdinServer;
}

/** One start of the scripted agent, as its command line asks for it. */
export interface ScriptedLaunch {
  session: SessionChoice;
  name: string | null;
  model: string;
  /** The first prompt, if it was on the command line. */
  prompt: string | null;
  /** The output of a headless run; null for an interactive one. */
  headless: AgentOutput | null;
  conversations: ConversationStore;
  presence?: PresenceFile;
  hooks?: HookListener;
  /** Acts on what the agent was told, at the end of each turn. */
  habit?(heard: readonly string[]): Promise<void>;
  /** Does before a turn, and before its answer, what words in the prompt say. */
  turnOrders?: TurnOrders;
  /** Opens another way for prompts to come in, into the conversation of the moment; what it returns closes that again. */
  openInbox?(push: (line: string) => void, session: () => string): () => void;
  /** Shows what the command line names before any conversation is opened, where the vendor's program does so. */
  announce?(): void;
  /** Called once with the session's id, before anything is shown or read; it may exec this process again (REEXEC_VARIABLE). */
  beforeStart?(session: string): void;
}

/**
 * This variable is set for a process that `beforeStart` exec'd again, to the session's id: what happens once at a launch
 * has happened already.
 */
export const REEXEC_VARIABLE = "PERDURE_SCRIPTED_REEXEC";

/** A server on standard input instead of a conversation. It runs to its end and returns the exit code. */
export interface StdinServer {
  serve(lines: AsyncIterable<string>): Promise<number>;
}

/** The conversation a launch, or an order such as `/clear`, asks for. A new one without an id gets a minted one. */
export type SessionChoice = { kind: "new"; id: string | null } | { kind: "resume"; id: string };

export type AgentStatus = "idle" | "busy" | "blocked";

export interface ConversationTurn {
  role: "user" | "agent";
  text: string;
}

/** The vendor's conversations on disk. `begin` and `resume` throw a Refusal rather than give another conversation. */
export interface ConversationStore {
  /** The newest conversation of the folder; null when there is none. Absent where the program has no option for it. */
  newest?(cwd: string): string | null;
  mint(): string;
  begin(id: string, cwd: string): OpenConversation;
  resume(id: string): OpenConversation;
}

export interface OpenConversation {
  readonly id: string;
  readonly file: string;
  /** The title that an earlier run gave to this conversation. */
  readonly name: string | null;
  readonly turns: readonly ConversationTurn[];
  append(turn: ConversationTurn, cwd: string): void;
  /** Writes down what a hook has added to the conversation; absent where the vendor's program does not. */
  attach?(text: string, cwd: string): void;
  /** Writes down what has come for a later turn; absent where the vendor's program does not. */
  queue?(text: string): void;
}

/** The agent's state at one moment, for its output, its hooks and its presence file. */
export interface AgentSnapshot {
  session: string;
  file: string;
  cwd: string;
  name: string | null;
  model: string;
  status: AgentStatus;
  turns: number;
}

/** The file in which the vendor tells other programs that this process lives. */
export interface PresenceFile<S = AgentSnapshot> {
  write(snapshot: S): void;
  remove(): void;
}

/** The vendor's hooks: called at every event. */
export type HookListener = (event: AgentEvent, snapshot: AgentSnapshot) => Promise<HookAnswer>;

interface HookAnswer {
  /** The text that the hooks have printed and the program does not understand: it is shown on standard error. */
  printed: string;
  /** The texts that the hooks have added for the model, in the program's words. */
  context: string[];
}

export type AgentEvent =
  | { kind: "start"; source: "startup" | "resume" | "clear" }
  | { kind: "prompt"; text: string }
  | { kind: "stop"; answer: string; prolonged: boolean }
  | { kind: "end"; reason: "exit" | "signal" | "clear" | "resume" };

/** How the agent prints: for a person, or in one of the vendor's formats. */
export interface AgentOutput {
  /** Called at the start, and when the session changes. */
  session(snapshot: AgentSnapshot, changed: boolean): void;
  /** Called when the agent waits for a line. */
  ready(): void;
  answer(text: string, snapshot: AgentSnapshot): void;
  notice(text: string): void;
  /** Called after the last line. */
  end(snapshot: AgentSnapshot): void;
}

/** The agent will not do something: the message has the words of the persona's vendor, and that vendor's exit code. */
export class PersonaRefusal extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
