import type { IncomingHttpHeaders } from "node:http";
import { isAuxiliary } from "./auxiliary.ts";
import { turnsOf } from "./turns.ts";
import type { Conversation, Message, Tool, WireName } from "./wire.ts";

/** A request as it came, and what it says. */
export interface ModelRequest {
  /** The request's place in the log. */
  readonly index: number;
  /** The protocol; null for what is no question to the model. */
  readonly wire: WireName | null;
  readonly method: string;
  readonly path: string;
  /** The headers by which the program says which conversation is asking. */
  readonly identity: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly model: string;
  readonly stream: boolean;
  /** All messages, with those that the program added. */
  readonly messages: readonly Message[];
  /** The user's words, one text a turn. */
  readonly turns: readonly string[];
  /** The results of tools since the last turn. */
  readonly results: readonly string[];
  readonly tools: readonly Tool[];
  /** Asked by the program on its own account (a title, a summary), or no question to the model at all. */
  readonly auxiliary: boolean;
}

interface Incoming {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: unknown;
  wire: WireName | null;
  conversation: Conversation | null;
}

const NOTHING: Conversation = { model: "", stream: false, messages: [], tools: [] };
const IDENTITY = /session|thread|turn-metadata/;

export class Log {
  readonly requests: ModelRequest[] = [];
  readonly #waiting = new Set<(request: ModelRequest) => void>();

  add({ method, path, headers, body, wire, conversation }: Incoming): ModelRequest {
    const { model, stream, messages, tools } = conversation ?? NOTHING;
    const request: ModelRequest = {
      index: this.requests.length,
      wire,
      method,
      path,
      identity: identityOf(headers),
      body,
      model,
      stream,
      messages,
      ...turnsOf(messages),
      tools,
      auxiliary: conversation === null || isAuxiliary(conversation),
    };
    this.requests.push(request);
    for (const look of this.#waiting) look(request);
    return request;
  }

  /** Tells whether an earlier request had the same last turn. Mail that is told again has another mark around the same words. */
  wasAskedBefore({ index, turns }: ModelRequest): boolean {
    const words = wordsOf(turns.at(-1));
    return this.requests.some((each) => each.index < index && !each.auxiliary && wordsOf(each.turns.at(-1)) === words);
  }

  async until(wanted: (request: ModelRequest) => boolean, timeoutMs: number): Promise<ModelRequest> {
    const there = this.requests.find(wanted);
    if (there) return there;
    const { promise, resolve, reject } = Promise.withResolvers<ModelRequest>();
    const look = (request: ModelRequest): void => {
      try {
        if (wanted(request)) resolve(request);
      } catch (error) {
        reject(error);
      }
    };
    const timer = setTimeout(() => reject(new Error(`no such request in ${timeoutMs} ms\n${this.#told()}`)), timeoutMs);
    this.#waiting.add(look);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(look);
    }
  }

  #told(): string {
    const lines = this.requests.map(({ index, path, auxiliary, turns }) =>
      [index, path, auxiliary ? "auxiliary" : "", JSON.stringify(turns)].join(" "),
    );
    return lines.join("\n") || "nothing was asked";
  }
}

function identityOf(headers: IncomingHttpHeaders): Record<string, string> {
  const telling = Object.entries(headers).filter(([name]) => IDENTITY.test(name));
  return Object.fromEntries(telling.map(([name, value]) => [name, String(value)]));
}

/** Returns the lines of a turn that have a directive in them; all of a turn without any. */
function wordsOf(turn = ""): string {
  const lines = turn.split("\n").filter((line) => line.includes("[["));
  return lines.length === 0 ? turn : lines.join("\n");
}
