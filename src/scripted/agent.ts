import type { Input } from "./input.ts";
import type {
  OpenConversation,
  AgentEvent,
  ScriptedLaunch,
  ConversationStore,
  AgentStatus,
  AgentSnapshot,
  AgentOutput,
  SessionChoice,
} from "./persona.ts";
import { printError } from "./print.ts";

/** A coding agent without a model: it reads prompts, answers, and keeps everything where its persona says. */
export class Agent {
  readonly output: AgentOutput;
  readonly input: Input;
  /** Set when the agent is to leave before its input ends. */
  exitCode: number | null = null;
  readonly #launch: ScriptedLaunch;
  #conversation: OpenConversation;
  #status: AgentStatus = "idle";
  #left = false;
  #closeInbox: () => void = () => undefined;

  constructor(launch: ScriptedLaunch, output: AgentOutput, input: Input) {
    this.#launch = launch;
    this.output = output;
    this.input = input;
    this.#conversation = open(launch.conversations, launch.session);
  }

  get snapshot(): AgentSnapshot {
    const { id, file, name, turns } = this.#conversation;
    return {
      session: id,
      file,
      cwd: process.cwd(),
      name: this.#launch.name ?? name,
      model: this.#launch.model,
      status: this.#status,
      turns: turns.filter(({ role }) => role === "user").length,
    };
  }

  async begin(): Promise<void> {
    const take = (line: string): void => {
      this.#conversation.queue?.(line);
      this.input.push(line);
    };
    this.#closeInbox = this.#launch.openInbox?.(take, () => this.#conversation.id) ?? this.#closeInbox;
    this.setStatus("idle");
    await this.#runHooks({ kind: "start", source: this.#launch.session.kind === "resume" ? "resume" : "startup" });
    this.output.session(this.snapshot, false);
  }

  async prompt(text: string): Promise<void> {
    this.setStatus("busy");
    const added = await this.#runHooks({ kind: "prompt", text });
    await this.#launch.turnOrders?.beforeTurn(text);
    this.#conversation.append({ role: "user", text }, process.cwd());
    for (const each of added) this.#conversation.attach?.(each, process.cwd());
    await this.#answer([text, ...added], false);
    this.setStatus("idle");
  }

  /** Answers, and once more if a hook does not let the turn end. */
  async #answer(heard: readonly string[], prolonged: boolean): Promise<void> {
    const asked = this.#conversation.turns.filter(({ role }) => role === "user");
    const repeated = `turns=${asked.length} first=${asked[0]?.text ?? ""} last=${asked.at(-1)?.text ?? ""}`;
    const answer = (await this.#launch.turnOrders?.beforeAnswer(heard.join("\n"))) ?? repeated;
    this.#conversation.append({ role: "agent", text: answer }, process.cwd());
    this.output.answer(answer, this.snapshot);
    await this.#launch.habit?.(heard);
    const reasons = await this.#runHooks({ kind: "stop", answer, prolonged });
    if (reasons.length === 0 || prolonged) return;
    for (const each of reasons) this.#conversation.append({ role: "user", text: each }, process.cwd());
    await this.#answer(reasons, true);
  }

  /** Goes to another conversation in the same process. One that cannot be opened changes nothing. */
  async change(choice: SessionChoice, reason: "clear" | "resume"): Promise<void> {
    const next = open(this.#launch.conversations, choice);
    await this.#runHooks({ kind: "end", reason });
    this.#conversation = next;
    this.setStatus("idle");
    await this.#runHooks({ kind: "start", source: reason });
    this.output.session(this.snapshot, true);
  }

  /** Asks, and is blocked until somebody answers by typing; the end of input is a no. */
  async ask(question: string): Promise<boolean> {
    this.setStatus("blocked");
    this.output.notice(question);
    const answer = await this.input.nextTyped();
    this.setStatus("idle");
    return /^y(es)?$/i.test(answer?.trim() ?? "");
  }

  /** Publishes the status, with the session and folder of this moment. */
  setStatus(status: AgentStatus): void {
    this.#status = status;
    this.#launch.presence?.write(this.snapshot);
  }

  /** Runs the end hooks once, however many reasons to leave there are. */
  async leave(reason: "exit" | "signal"): Promise<void> {
    if (this.#left) return;
    this.#left = true;
    this.#closeInbox();
    this.#launch.presence?.remove();
    await this.#runHooks({ kind: "end", reason });
  }

  async #runHooks(event: AgentEvent): Promise<readonly string[]> {
    const { printed, context } = (await this.#launch.hooks?.(event, this.snapshot)) ?? { printed: "", context: [] };
    if (printed) printError(printed);
    return context;
  }
}

function open(conversations: ConversationStore, choice: SessionChoice): OpenConversation {
  if (choice.kind === "resume") return conversations.resume(choice.id);
  return conversations.begin(choice.id ?? conversations.mint(), process.cwd());
}
