import type { ModelRequest } from "./model/index.ts";
import type { Terminal } from "./harness/terminal.ts";
import { Worker, type Refusal } from "./worker.ts";

/** A length short enough for one line of any screen. */
const SHOWN_LENGTH = 20;

/** The mark in mail, which may fill the screen of a conversation that is back. */
const MAIL_MARK = /m-[0-9a-f]{16}/;

/** A worker in a terminal: a run goes on from turn to turn, and comes back by its name alone. */
export class TerminalWorker extends Worker {
  protected terminal: Terminal | null = null;
  /** Started before, so that perdure knows the words. */
  #known = false;
  /** How the last turns of its conversation begin: one of them is seen again when that is back. */
  #said: string[] = [];

  async say(text: string): Promise<ModelRequest> {
    const terminal = await this.#opened();
    const since = this.setup.model.requests.length;
    await terminal.prompt(text);
    const request = await this.#askedIn(terminal, text, since);
    const session = this.setup.sessionOf(request) ?? (await this.session());
    // What is on the screen may not be there yet: a kill that comes too early would be another test.
    const first = /^[a-z]*/i.exec(request.turns[0] ?? "")?.[0];
    const answer = `turns=${request.turns.length} first=${first}`;
    await terminal.until("the answer on disk", () => this.setup.hasWritten(session, answer));
    await terminal.ready();
    this.#said = [text.slice(0, SHOWN_LENGTH)];
    return request;
  }

  async again(text: string): Promise<ModelRequest> {
    await this.kill();
    return this.say(text);
  }

  async begin(text: string): Promise<void> {
    const terminal = await this.#opened();
    const since = this.setup.model.requests.length;
    await terminal.prompt(text);
    await this.#askedIn(terminal, text, since);
    this.#said.push(text.slice(0, SHOWN_LENGTH));
  }

  /** Says something that the model answers with an error: what its directive says. */
  async fail(directive: string): Promise<void> {
    const text = `bad [[fail ${directive}]]`;
    await (await this.#opened()).prompt(text);
    this.#said.push("bad [[fail");
  }

  /** Interrupts the turn, as its user does. */
  async interrupt(): Promise<void> {
    const terminal = await this.#opened();
    const { busy, escapeAgain, interrupt = "Escape" } = this.setup.vendor.screen;
    await terminal.press([interrupt]);
    if (escapeAgain) {
      await terminal.until("one Escape", (screen) => escapeAgain.test(screen));
      await terminal.press([interrupt]);
    }
    await terminal.until("the turn interrupted", (screen) => !busy.test(screen));
  }

  async open(): Promise<void> {
    await this.#opened();
  }

  /** The terminal, for what a person does there besides talking. */
  async inFront(): Promise<Terminal> {
    return this.#opened();
  }

  async refused(): Promise<Refusal> {
    const { code, text } = await this.setup.inPane(this.setup.inTerminal(this.runWords(null), this.how));
    return { code, text: text.replaceAll(/\s+/g, " ") };
  }

  async renew(): Promise<void> {
    await (await this.#opened()).fresh();
    this.#said = [];
  }

  async loseTerminal(): Promise<void> {
    await (await this.#opened()).lose();
  }

  protected async left(): Promise<void> {
    await this.terminal?.kill();
    this.terminal = null;
  }

  /** Waits for the model to be asked; the screen tells why it was not. */
  async #askedIn(terminal: Terminal, text: string, since: number): Promise<ModelRequest> {
    try {
      return await this.asked(text, since);
    } catch (cause) {
      throw new Error(`never asked: ${text}\n${await terminal.screen()}`, { cause });
    }
  }

  async #opened(): Promise<Terminal> {
    if (this.terminal) return this.terminal;
    this.terminal = await this.start();
    const { said } = this.how;
    const before = this.#said.length === 0 && said !== undefined ? [said] : this.#said;
    const isBack = (screen: string): boolean => before.some((text) => screen.includes(text)) || MAIL_MARK.test(screen);
    if (before.length > 0) await this.terminal.until(before.join(" or "), isBack);
    await this.terminal.ready();
    return this.terminal;
  }

  /** Opens a terminal for this worker. */
  protected async start(): Promise<Terminal> {
    const { name, interactive } = this.setup.vendor;
    const command = [name, ...interactive.before, ...(this.how.args ?? []), ...this.setup.traits.interactive];
    const words = this.runWords(this.#known ? null : command);
    this.#known = true;
    return this.setup.terminal(this.setup.inTerminal(words, this.how));
  }
}
