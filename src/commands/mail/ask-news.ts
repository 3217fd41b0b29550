import type { FoundProject } from "../../project/find.ts";
import { hintText, type Hint } from "../../protocol/hint.ts";
import type { AskedWorker, AskProgress } from "../../protocol/records/mail.ts";
import { printable, type Output } from "../shared/output.ts";

/**
 * Tells people, on stderr, what becomes of a question while its answer is waited for: that it was sent, what it waits for, and, at
 * Ctrl-C, where the answer goes. The answer alone goes to stdout.
 */
export class AskNews {
  readonly #id: string;
  readonly #name: string;
  readonly #out: Output;
  readonly #options: { found: FoundProject; tools: boolean };
  #question: AskedWorker["question"] | null = null;
  #isSent = false;
  #last = "";

  constructor(id: string, name: string, out: Output, options: { found: FoundProject; tools: boolean }) {
    this.#id = id;
    this.#name = name;
    this.#out = out;
    this.#options = options;
  }

  /** Takes one item of the daemon's. */
  readonly take = (item: AskProgress): void => {
    if (!this.#isSent) this.#say(`asked ${this.#name} (${this.#id})`);
    this.#isSent = true;
    if (item.kind === "started") this.#say(`${this.#name} is started (${item.run})`);
    if (item.kind === "tool" && this.#options.tools) this.#say(`${this.#name} uses ${item.name}`);
    if (item.kind !== "worker") return;
    this.#question = item.question;
    const line = newsLine(this.#name, item);
    if (line === null || line === this.#last) return;
    this.#last = line;
    this.#say(line);
    if (item.isNew) void this.#noteTrust();
  };

  /** Says what becomes of the question when nobody waits any more. */
  leavingLine(): string {
    const [id, name] = [this.#id, this.#name];
    if (!this.#isSent) return `${id} to ${name} may have been sent → perdure mail ${id}`;
    const isTold = this.#question !== null && !["queued", "offered"].includes(this.#question);
    const back = isTold ? "" : `; to take it back: perdure cancel ${id}`;
    return `${id} to ${name} stays; its answer goes to your inbox → perdure mail ${id}${back}`;
  }

  /** A worker that nobody has brought up starts only when its file is trusted. */
  async #noteTrust(): Promise<void> {
    const { untrustedFile } = await import("./untrusted-file.ts"); // reads the whole fleet, which few questions need
    const file = await untrustedFile(this.#options.found);
    if (file !== null)
      this.#say(`${this.#name} starts nothing yet: ${file} is not trusted as it is now → perdure trust`);
  }

  #say(line: string): void {
    this.#out.note(this.#out.paint.dim(printable(line)));
  }
}

/** Prints what becomes of the questions when the person presses Ctrl-C, and ends as any program does then. */
export function sayAtInterrupt(news: readonly AskNews[], out: Output): () => void {
  const onInterrupt = (): void => {
    process.removeListener("SIGINT", onInterrupt);
    out.note(["", ...news.map((each) => each.leavingLine())].join("\n"));
    process.kill(process.pid, "SIGINT");
  };
  process.on("SIGINT", onInterrupt);
  return () => void process.removeListener("SIGINT", onInterrupt);
}

/** Says what a question waits for; null where there is nothing to tell beyond what was told. */
function newsLine(name: string, asked: AskedWorker): string | null {
  const { state, attention, next, outlook, question, staysDown, isNew } = asked;
  const way = arrow(next);
  if (isNew) return `${name} was never brought up; the question waits for it${way}`;
  if (staysDown) return `${staysText(name, state, attention)}${way}`;
  if (state === "blocked") return `${name} is blocked${attention === null ? "" : `: ${attention}`}${way}`;
  if (question === "injected" || question === "read") return `${name} has been told; waiting for its reply`;
  if (question !== "queued" || state === "turning") return null;
  if (state === "backing-off") return `${name} has ended and starts again by itself; delivered then`;
  const why = attention === null ? "" : `: ${attention}`;
  return `${name} is ${state}${why}; delivered ${outlook ?? "in a moment"}${way}`;
}

/** Says why a message to a worker without a process waits for a person. */
export function staysText(name: string, state: string, reason: string | null): string {
  const why = reason === null ? "" : ` (${reason})`;
  return `${name} is ${state}${why} and does not start by itself; the message stays`;
}

export function arrow(next: Hint): string {
  const text = hintText(next);
  return text === null ? "" : ` → ${text}`;
}
