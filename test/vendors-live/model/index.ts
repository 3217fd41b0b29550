import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { answerTo, type Answer } from "./answer.ts";
import { asObject, parse } from "./json.ts";
import { Log, type ModelRequest } from "./log.ts";
import type { Failure } from "./prompt-directives.ts";
import type { Wire } from "./wire.ts";
import { anthropic } from "./wires/anthropic.ts";
import { chat } from "./wires/chat.ts";
import { gemini } from "./wires/gemini.ts";
import { responses } from "./wires/responses.ts";

export type { ModelRequest } from "./log.ts";

/** A deadline far beyond any load: it only keeps a broken test from hanging. */
const UNTIL_MS = 60_000;
const WIRES: readonly Wire[] = [anthropic, responses, chat, gemini];

/** A model that only says what it was told: the same question gets the same answer, and every question is written down. */
export interface Model {
  /** The address without a path, which differs by wire. */
  readonly url: string;
  /** Every request, as it came. */
  readonly requests: readonly ModelRequest[];
  /** The first request that is as wanted, of those that came and those to come. */
  until(wanted: (request: ModelRequest) => boolean, options?: { timeoutMs?: number }): Promise<ModelRequest>;
  /** Lets every answer go that is held now. */
  release(): void;
  /** Answers everything with this failure from now on, whatever is asked; null: answers again. */
  fail(failure: Failure | null): void;
  close(): Promise<void>;
}

export async function startModel(): Promise<Model> {
  const log = new Log();
  const held = new Set<() => void>();
  let failing: Failure | null = null;
  const release = (): void => {
    for (const go of held) go();
    held.clear();
  };

  const server = createServer((request, response) => {
    const hold = (): Promise<void> =>
      new Promise((go) => {
        held.add(go);
        response.once("close", go);
      });
    serve(request, response, { log, failing, hold }).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    requests: log.requests,
    until: (wanted, { timeoutMs = UNTIL_MS } = {}) => log.until(wanted, timeoutMs),
    release,
    fail: (failure) => {
      failing = failure;
    },
    close: async () => {
      release();
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { log, failing, hold }: { log: Log; failing: Failure | null; hold: () => Promise<void> },
): Promise<void> {
  const path = new URL(request.url ?? "/", "http://model").pathname;
  const body = parse(await text(request));
  const wire = request.method === "POST" ? WIRES.find((each) => each.takes(path)) : undefined;
  if (!wire) {
    log.add({ method: request.method ?? "", path, headers: request.headers, body, wire: null, conversation: null });
    send(response, 200, otherEndpoint(path));
    return;
  }
  const conversation = wire.read(asObject(body), path);
  const logged = log.add({ method: "POST", path, headers: request.headers, body, wire: wire.name, conversation });
  if (failing !== null) return giveFailure(response, wire, failing);
  const answer = answerTo(logged, log.wasAskedBefore(logged));
  if (answer.hold) await waiting(response, conversation.stream, hold);
  give(response, wire, answer, logged);
}

/** A harmless answer for every request that is not for the model itself: which models there are, how long a text is. */
function otherEndpoint(path: string): object {
  if (path.endsWith("/count_tokens")) return { input_tokens: 10 };
  if (path.endsWith(":countTokens")) return { totalTokens: 10 };
  if (path.endsWith("/models")) return { object: "list", data: [], models: [] };
  return {};
}

/** A held stream has begun, as far as its client can tell: that is how a turn looks that is killed in the middle. */
async function waiting(response: ServerResponse, stream: boolean, hold: () => Promise<void>): Promise<void> {
  if (stream) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
  }
  await hold();
}

function give(response: ServerResponse, wire: Wire, { fail, reply }: Answer, { model, stream }: ModelRequest): void {
  if (response.destroyed) return;
  if (fail !== null) return response.headersSent ? void response.destroy() : giveFailure(response, wire, fail);
  if (!stream) return send(response, 200, wire.whole(reply, model));
  if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" });
  for (const { name, data } of wire.events(reply, model)) {
    if (name !== undefined) response.write(`event: ${name}\n`);
    response.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  }
  response.end();
}

function giveFailure(response: ServerResponse, wire: Wire, failure: Failure): void {
  if (failure.retryAfterSeconds !== null) response.setHeader("retry-after", String(failure.retryAfterSeconds));
  send(response, failure.status, wire.error(failure));
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
