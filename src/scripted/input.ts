import { isErrno } from "../state/files.ts";

/** The agent's input: first the lines given at the start, then those that come in, or are pushed. */
export class Input {
  readonly #given: string[];
  readonly #pushed: string[] = [];
  readonly #incoming: AsyncIterator<string>;
  /** The next incoming line, which is waited for once. */
  #awaited: Promise<IteratorResult<string>> | null = null;
  #wake: (() => void) | null = null;

  constructor(given: string[], incoming: AsyncIterator<string>) {
    this.#given = given;
    this.#incoming = incoming;
  }

  /** The next line, or null at the end. */
  async next(): Promise<string | null> {
    for (;;) {
      const given = this.#given.shift() ?? this.#pushed.shift();
      if (given !== undefined) return given;
      const pushed = new Promise<null>((resolve) => (this.#wake = () => resolve(null)));
      this.#awaited ??= this.#incoming.next();
      const came = await Promise.race([this.#awaited, pushed]);
      if (came !== null) return this.#arrived(came);
    }
  }

  /** The next line that nobody pushed: what answers a question must come from whoever sits in front. */
  async nextTyped(): Promise<string | null> {
    this.#wake = null;
    return this.#given.shift() ?? this.#arrived(await (this.#awaited ??= this.#incoming.next()));
  }

  /** Hands in a line that did not come by the usual way. */
  push(line: string): void {
    this.#pushed.push(line);
    this.#wake?.();
  }

  #arrived({ done, value }: IteratorResult<string>): string | null {
    this.#awaited = null;
    return done === true ? null : value;
  }
}

export async function* stdinLines(): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of stdinChunks()) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield line.replace(/\r$/, "");
  }
  if (rest !== "") yield rest;
}

/** All of standard input as one prompt, for a headless run. */
export async function* stdinWhole(): AsyncGenerator<string> {
  let whole = "";
  for await (const chunk of stdinChunks()) whole += chunk;
  yield whole;
}

export async function* nothing(): AsyncGenerator<string> {
  // A prompt on the command line is all there is.
}

async function* stdinChunks(): AsyncGenerator<string> {
  process.stdin.setEncoding("utf8");
  try {
    for await (const chunk of process.stdin) yield String(chunk);
  } catch (error) {
    // The terminal is gone: no more will come.
    if (!isErrno(error, "EIO")) throw error;
  }
}
