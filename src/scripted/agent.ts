import type { Input } from "./input.ts";
import type { Conversation, Happening, Launch, Sessions, Status, View, Voice, Wanted } from "./persona.ts";
import { sayAside } from "./write.ts";

/** A coding agent without a model: hears, answers, and keeps everything where its layout says. */
export class Agent {
  readonly voice: Voice;
  readonly input: Input;
  /** Set when it is to leave before its input ends. */
  exitCode: number | null = null;
  readonly #launch: Launch;
  #conversation: Conversation;
  #status: Status = "idle";
  #left = false;

  constructor(launch: Launch, voice: Voice, input: Input) {
    this.#launch = launch;
    this.voice = voice;
    this.input = input;
    this.#conversation = open(launch.sessions, launch.session);
  }

  get view(): View {
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
    this.show("idle");
    await this.#tell({ kind: "start", source: this.#launch.session.kind === "resume" ? "resume" : "startup" });
    this.voice.session(this.view, false);
  }

  async prompt(text: string): Promise<void> {
    this.show("busy");
    await this.#tell({ kind: "prompt", text });
    this.#conversation.append({ role: "user", text }, process.cwd());
    const asked = this.#conversation.turns.filter(({ role }) => role === "user");
    const answer = `turns=${asked.length} first=${asked[0]?.text ?? ""} last=${asked.at(-1)?.text ?? ""}`;
    this.#conversation.append({ role: "agent", text: answer }, process.cwd());
    this.voice.answer(answer, this.view);
    await this.#tell({ kind: "stop", answer });
    this.show("idle");
  }

  /** Another conversation in the same process. One that cannot be opened changes nothing. */
  async change(wanted: Wanted, reason: "clear" | "resume"): Promise<void> {
    const next = open(this.#launch.sessions, wanted);
    await this.#tell({ kind: "end", reason });
    this.#conversation = next;
    this.show("idle");
    await this.#tell({ kind: "start", source: reason });
    this.voice.session(this.view, true);
  }

  /** Blocked until somebody answers; nobody there is a no. */
  async ask(question: string): Promise<boolean> {
    this.show("blocked");
    this.voice.notice(question);
    const answer = await this.input.next();
    this.show("idle");
    return /^y(es)?$/i.test(answer?.trim() ?? "");
  }

  /** Tells the outside what it does and where it is now. */
  show(status: Status): void {
    this.#status = status;
    this.#launch.presence?.show(this.view);
  }

  /** Once, however many reasons there are. */
  async leave(reason: "exit" | "signal"): Promise<void> {
    if (this.#left) return;
    this.#left = true;
    this.#launch.presence?.leave();
    await this.#tell({ kind: "end", reason });
  }

  async #tell(event: Happening): Promise<void> {
    const said = await this.#launch.listener?.(event, this.view);
    if (said) sayAside(said);
  }
}

function open(sessions: Sessions, wanted: Wanted): Conversation {
  if (wanted.kind === "resume") return sessions.resume(wanted.id);
  return sessions.begin(wanted.id ?? sessions.mint(), process.cwd());
}
