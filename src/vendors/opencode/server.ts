import { PerdureError } from "../../protocol/errors.ts";
import { parseObject } from "../../util/fields.ts";

type Body = Readonly<Record<string, unknown>>;

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

  async call(method: "GET" | "POST" | "PATCH", path: string, body?: object, limitMs?: number): Promise<Body> {
    const signals = [this.#signal, ...(limitMs === undefined ? [] : [AbortSignal.timeout(limitMs)])];
    const signal = AbortSignal.any(signals);
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${this.#url}${path}`, { method, headers: this.#headers, signal, ...content });
    const text = await response.text();
    if (response.status === 204) return {};
    const answer = response.ok ? parseObject(text) : null;
    if (answer) return answer;
    throw new PerdureError("unavailable", `opencode answered ${method} ${path} with ${response.status}: ${text}`);
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
