import { isErrno } from "../state/files.ts";

/** The agent's input: first the lines given at the start, then those that come in. */
export class Input {
  readonly #given: string[];
  readonly #incoming: AsyncIterator<string>;

  constructor(given: string[], incoming: AsyncIterator<string>) {
    this.#given = given;
    this.#incoming = incoming;
  }

  /** The next line, or null at the end. */
  async next(): Promise<string | null> {
    const given = this.#given.shift();
    if (given !== undefined) return given;
    const { done, value } = await this.#incoming.next();
    return done ? null : value;
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
