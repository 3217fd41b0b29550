import { PerdureError } from "../../protocol/errors.ts";
import { parseObject } from "../../util/fields.ts";

type Body = Readonly<Record<string, unknown>>;
type Method = "GET" | "POST" | "PATCH";

/**
 * A client of the server inside an opencode process, on loopback. The password is null for a server that asks for none.
 */
export class OpencodeServer {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #signal: AbortSignal;

  constructor({ port, password }: { port: number; password: string | null }, signal: AbortSignal) {
    this.#url = `http://127.0.0.1:${port}`;
    const known = password === null ? null : Buffer.from(`opencode:${password}`).toString("base64");
    this.#headers = { "content-type": "application/json", ...(known ? { authorization: `Basic ${known}` } : {}) };
    this.#signal = signal;
  }

  async call(method: Method, path: string, body?: object, limitMs?: number): Promise<Body> {
    const { status, text } = await this.#answer(method, path, body, limitMs);
    const answer = status === 204 ? {} : parseObject(text);
    if (answer) return answer;
    throw unusable(method, path, status, text);
  }

  /** Returns the last messages of a conversation, oldest first. */
  async lastMessages(session: string, count: number): Promise<readonly unknown[]> {
    const path = `/session/${session}/message?limit=${count}`;
    const { status, text } = await this.#answer("GET", path);
    const messages: unknown = JSON.parse(text);
    if (Array.isArray(messages)) return messages as readonly unknown[];
    throw unusable("GET", path, status, text);
  }

  async #answer(
    method: Method,
    path: string,
    body?: object,
    limitMs?: number,
  ): Promise<{ status: number; text: string }> {
    const signals = [this.#signal, ...(limitMs === undefined ? [] : [AbortSignal.timeout(limitMs)])];
    const signal = AbortSignal.any(signals);
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${this.#url}${path}`, { method, headers: this.#headers, signal, ...content });
    const text = await response.text();
    if (response.ok) return { status: response.status, text };
    throw unusable(method, path, response.status, text);
  }

  /** Yields the server's events from now on, and ends with the server. Lines that are not wanted are not parsed. */
  async *events(isWanted: (line: string) => boolean, answerMs: number): AsyncGenerator<Body> {
    const response = await this.#opened("/event", answerMs);
    if (!response.ok || !response.body) throw new PerdureError("unavailable", `no events: ${response.status}`);
    let rest = "";
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const lines = `${rest}${chunk}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const event = isWanted(line) ? parseObject(line.slice(line.indexOf("{"))) : null;
        if (event) yield event;
      }
    }
  }

  /** A request to a program that is still starting may never be answered, so it is given up and made again. */
  async #opened(path: string, answerMs: number): Promise<Response> {
    const impatient = new AbortController();
    const timer = setTimeout(() => impatient.abort(), answerMs);
    const signal = AbortSignal.any([this.#signal, impatient.signal]);
    return fetch(`${this.#url}${path}`, { headers: this.#headers, signal }).finally(() => clearTimeout(timer));
  }
}

function unusable(method: Method, path: string, status: number, text: string): PerdureError {
  return new PerdureError("unavailable", `opencode answered ${method} ${path} with ${status}: ${text}`);
}
