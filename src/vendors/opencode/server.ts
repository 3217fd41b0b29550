import { PerdureError } from "../../protocol/errors.ts";
import { parseObject } from "../../util/fields.ts";

type Body = Readonly<Record<string, unknown>>;

/** The server inside an opencode process, on loopback. Null for one that asks for no password. */
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
    const given = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${this.#url}${path}`, { method, headers: this.#headers, signal, ...given });
    const text = await response.text();
    if (response.status === 204) return {};
    const answer = response.ok ? parseObject(text) : null;
    if (answer) return answer;
    throw new PerdureError("unavailable", `opencode answered ${method} ${path} with ${response.status}: ${text}`);
  }

  /** What happens in it, from now on, as it is told; ends when it does. Lines that are not wanted are not looked into. */
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

  /** One that asks while the program is still starting may never be answered: it has to ask again. */
  async #opened(path: string, answerMs: number): Promise<Response> {
    const impatient = new AbortController();
    const timer = setTimeout(() => impatient.abort(), answerMs);
    const signal = AbortSignal.any([this.#signal, impatient.signal]);
    return fetch(`${this.#url}${path}`, { headers: this.#headers, signal }).finally(() => clearTimeout(timer));
  }
}
