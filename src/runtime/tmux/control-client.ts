import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { STDERR_CHARS_MAX, TMUX_ANSWER_MS } from "../../limits/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { commandLine } from "./quote.ts";
import { ReplyReader } from "./reply-reader.ts";

export interface ControlOptions {
  /** The path of the tmux program. */
  file: string;
  socket: string;
  /** The exact name of the session that the client attaches to. */
  session: string;
  environment: Record<string, string>;
}

interface Request {
  /** The number of answers, one per command. */
  expected: number;
  nonce: string | null;
  answers: string[][];
  resolve: (answers: string[][]) => void;
  reject: (error: PerdureError) => void;
}

/**
 * A control-mode client of tmux. Commands go to its stdin and answers come from its stdout, in order, so that many can be
 * under way at once. It never sizes a window and gets no pane's output. A client that is gone stays gone: open another.
 */
export class ControlClient {
  readonly #child: ChildProcess;
  readonly #requests: Request[] = [];
  readonly #opened = Promise.withResolvers<void>();
  readonly #gone = Promise.withResolvers<PerdureError>();
  readonly #notice: (line: string) => void;
  #timer: NodeJS.Timeout | null = null;
  #unsent = "";
  #stderr = "";
  #isOpen = false;
  #end: PerdureError | null = null;
  /** Where the server is, if in another pid namespace; null if its pids count here. */
  serverElsewhere: string | null = null;

  static async open(options: ControlOptions, notice: (line: string) => void): Promise<ControlClient> {
    const client = new ControlClient(options, notice);
    await client.#opened.promise;
    return client;
  }

  private constructor({ file, socket, session, environment }: ControlOptions, notice: (line: string) => void) {
    this.#notice = notice;
    const flags = [
      "-u",
      "-N",
      "-S",
      socket,
      "-C",
      "attach-session",
      "-f",
      "no-output,ignore-size",
      "-t",
      `=${session}`,
    ];
    this.#child = spawn(file, flags, { env: environment, cwd: "/", stdio: ["pipe", "pipe", "pipe"] });
    const reader = new ReplyReader({
      answer: (lines, ok, ours) => this.#onAnswer(lines, ok, ours),
      notice: (line) => this.#onNotice(line),
      nonce: () => this.#requests[0]?.nonce ?? null,
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => reader.read(text));
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_CHARS_MAX);
    });
    this.#child.stdin?.on("error", (error) => this.#fail(error.message));
    this.#child.on("error", (error) => this.#fail(error.message));
    this.#child.on("close", () => this.#fail(this.#stderr.trim() || "its control client ended"));
    this.#opened.promise.catch(() => undefined); // open() reports it
    this.#resetTimeout();
  }

  /** Resolves with the reason when this client can do nothing more. */
  get gone(): Promise<PerdureError> {
    return this.#gone.promise;
  }

  get isGone(): boolean {
    return this.#end !== null;
  }

  /** Sends one line of commands and returns the answer of each. Throws the first failure; later commands are not run. */
  async send(...commands: string[][]): Promise<string[][]> {
    return this.#request(commandLine(commands), commands.length, null);
  }

  /** Sends one command whose answer may contain text that a program in a pane has written. */
  async sendGuarded(command: string[]): Promise<string[]> {
    const nonce = randomBytes(16).toString("hex");
    const answer = this.#request(commandLine([command]), 1, nonce);
    const end = this.#request(commandLine([["display-message", "-p", nonce]]), 1, null);
    const [[lines = []]] = await Promise.all([answer, end]);
    return lines;
  }

  /** Disconnects from the server, which keeps running. */
  close(): void {
    this.#fail("its control client was closed");
  }

  #request(line: string, expected: number, nonce: string | null): Promise<string[][]> {
    if (this.#end) return Promise.reject(this.#end);
    const { promise, resolve, reject } = Promise.withResolvers<string[][]>();
    this.#requests.push({ expected, nonce, answers: [], resolve, reject });
    if (this.#unsent === "") queueMicrotask(() => this.#flush()); // all requests of one turn share one write
    this.#unsent += `${line}\n`;
    this.#resetTimeout();
    return promise;
  }

  #flush(): void {
    const text = this.#unsent;
    this.#unsent = "";
    if (this.#end === null) this.#child.stdin?.write(text);
  }

  #onAnswer(lines: string[], ok: boolean, ours: boolean): void {
    if (!ours) return this.#onAttached(lines, ok);
    const request = this.#requests[0];
    if (request === undefined) return this.#fail("it sent an unexpected answer");
    request.answers.push(lines);
    if (!ok || request.answers.length === request.expected) this.#requests.shift();
    this.#resetTimeout();
    if (!ok) request.reject(refusalError(lines.join(" ")));
    else if (request.answers.length === request.expected) request.resolve(request.answers);
  }

  #onAttached(lines: string[], ok: boolean): void {
    if (!ok) return this.#fail(lines.join(" "));
    this.#isOpen = true;
    this.#resetTimeout();
    this.#opened.resolve();
  }

  #onNotice(line: string): void {
    if (line.startsWith("%exit")) this.#fail(line.slice("%exit".length).trim() || "it detached its control client");
    else this.#notice(line);
  }

  /** Restarts the timeout at every answer, because a long queue is not a silent server. */
  #resetTimeout(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#end !== null || (this.#requests.length === 0 && this.#isOpen)) return;
    this.#timer = setTimeout(() => this.#fail(`it has not answered for ${TMUX_ANSWER_MS / 1000} s`), TMUX_ANSWER_MS);
  }

  #fail(why: string): void {
    if (this.#end !== null) return;
    const end = unansweredError(why);
    this.#end = end;
    this.#resetTimeout();
    this.#child.kill("SIGKILL"); // it holds no terminal, and the server notices its end
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream?.destroy();
    this.#opened.reject(end);
    for (const request of this.#requests.splice(0)) request.reject(end);
    this.#gone.resolve(end);
  }
}

/** Makes the error of a command that may or may not have been carried out: a caller checks before it retries. */
export function unansweredError(why: string, cause?: unknown): PerdureError {
  return new PerdureError("unavailable", `The fleet's tmux server did not answer: ${why}.`, {
    hint: "try again in a moment",
    details: { tmux: why },
    cause,
  });
}

/** True for a command that tmux understood and refused with a message of this form. */
export function isRefusal(error: unknown, pattern: RegExp): boolean {
  return isPerdureError(error) && error.code === "conflict" && pattern.test(tmuxMessageOf(error));
}

/** Returns the message of tmux itself in an error; empty for any other error. */
export function tmuxMessageOf(error: unknown): string {
  const words = isPerdureError(error) ? error.details?.tmux : undefined;
  return typeof words === "string" ? words : "";
}

function refusalError(words: string): PerdureError {
  return new PerdureError("conflict", `tmux refused: ${words}.`, { retryable: false, details: { tmux: words } });
}
