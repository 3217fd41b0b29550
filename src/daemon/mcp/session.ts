import { BRIDGE_LINE_BYTES_MAX } from "../../limits/index.ts";
import { asPerdureError, isPerdureError, type PerdureError } from "../../protocol/errors.ts";
import type { CallName, CallResults, StreamItems } from "../../protocol/calls/index.ts";
import { VERSION } from "../../protocol/version.ts";
import { fieldsOf } from "../../util/fields.ts";
import { sha256 } from "../../util/sha256.ts";
import type { CallSink, DaemonContext } from "../dispatch/call-context.ts";
import { dispatch } from "../dispatch/dispatch.ts";
import { assertCurrent } from "../permissions/actor.ts";
import {
  errorLine,
  idInCut,
  notificationLine,
  readMessage,
  resultLine,
  RPC_ERRORS,
  type RpcMessage,
} from "./json-rpc.ts";
import { checkArguments, type Tool, type ToolCall, type WorkerActor } from "./tool.ts";
import { TOOLS } from "./tools/index.ts";

/** The agent at the other end of a bridge. */
export interface BridgePeer {
  /** The worker, or why the bridge's token is nobody's. */
  actor: WorkerActor | PerdureError;
  nested: boolean;
  /** Drawn by the bridge at its start: with it and the number of a line, a call that is asked again is known again. */
  bridge: string;
}

/** One line of an agent's program, as the bridge passes it on. */
export interface BridgeLine {
  number: number;
  /** How long ago the agent's program wrote it, for a line that the bridge sends again. */
  ageMs: number;
  text: string;
  /** Whether it was too long, so that the text is only its beginning and its end. */
  cut: boolean;
}

/** The bridge's end of a line: where notifications go, and until when somebody waits for the answer. */
export interface Answering {
  notify(line: string): void;
  /** Aborted when the bridge is gone or the daemon drains. */
  closed: AbortSignal;
}

/** An answer to one line, and what is to be done once it has left. Null: there is none, and the bridge is not to ask again. */
export interface Answer {
  text: string | null;
  after: readonly (() => Promise<unknown>)[];
}

/** Thrown to leave a line without an answer: the bridge asks the next daemon. */
export class LeaveUnanswered extends Error {}

const NO_ANSWER: Answer = { text: null, after: [] };

/** The newest version of the protocol that is spoken here, and the older ones that are the same as far as tools go. */
const PROTOCOLS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/**
 * Speaks MCP with one agent. It keeps nothing that a restart of the daemon would lose: every line can be answered without those
 * before it, so a bridge that has reconnected goes on where it was.
 */
export class McpSession {
  readonly #daemon: DaemonContext;
  readonly #peer: BridgePeer;
  /** The calls that are being carried out, by the id that the agent's program gave them. */
  readonly #running = new Map<string | number, AbortController>();

  constructor(daemon: DaemonContext, peer: BridgePeer) {
    this.#daemon = daemon;
    this.#peer = peer;
  }

  /** Answers one line. */
  async answer(line: BridgeLine, answering: Answering): Promise<Answer> {
    if (line.cut) return plain(errorLine(idInCut(line.text), RPC_ERRORS.invalid, TOO_LONG));
    const message = readMessage(line.text);
    if (message === "not-json") return plain(errorLine(null, RPC_ERRORS.parse, "That line is not JSON."));
    if (message === null) return NO_ANSWER;
    if (message.id === null) return this.#notice(message);
    if (message.method === "ping") return plain(resultLine(message.id, {}));
    const { actor } = this.#peer;
    if (isPerdureError(actor)) return plain(errorLine(message.id, RPC_ERRORS.refused, sentence(actor)));
    switch (message.method) {
      case "initialize":
        return plain(resultLine(message.id, greeting(message.params, actor.address)));
      case "tools/list":
        return plain(resultLine(message.id, { tools: TOOLS.map(describeTool) }));
      case "tools/call":
        return this.#call(message, actor, line, answering);
      default:
        return plain(errorLine(message.id, RPC_ERRORS.method, `There is no method ${JSON.stringify(message.method)}.`));
    }
  }

  #notice({ method, params }: RpcMessage): Answer {
    const { requestId } = fieldsOf(params);
    if (method === "notifications/cancelled" && (typeof requestId === "string" || typeof requestId === "number")) {
      this.#running.get(requestId)?.abort();
    }
    return NO_ANSWER;
  }

  async #call(message: RpcMessage, actor: WorkerActor, line: BridgeLine, answering: Answering): Promise<Answer> {
    const { name, arguments: given, _meta } = fieldsOf(message.params);
    const tool = TOOLS.find((each) => each.name === name);
    if (tool === undefined) {
      return plain(errorLine(message.id, RPC_ERRORS.params, `There is no tool ${JSON.stringify(name)}.`));
    }
    const cancelled = new AbortController();
    if (message.id !== null) this.#running.set(message.id, cancelled);
    const closed = AbortSignal.any([answering.closed, cancelled.signal]);
    const after: Answer["after"][number][] = [];
    const { progressToken } = fieldsOf(_meta);
    let steps = 0;
    const progress = (text: string): void => {
      if (progressToken === undefined) return;
      const params = { progressToken, progress: ++steps, message: text };
      answering.notify(notificationLine("notifications/progress", params));
    };
    try {
      assertCurrent(this.#daemon.services, actor.run.id, actor.run.generation);
      const args = checkArguments(tool.name, tool.input, given);
      const call = this.#toolCall(actor, line, closed, progress, after);
      return { text: resultLine(message.id, resultOf(await tool.run(args, call))), after };
    } catch (thrown) {
      // The agent's program has given the call up, and wants no answer.
      if (cancelled.signal.aborted) return NO_ANSWER;
      const error = asPerdureError(thrown);
      if (answering.closed.aborted && error.details?.lost === true) throw new LeaveUnanswered();
      return plain(resultLine(message.id, failureOf(error)));
    } finally {
      if (message.id !== null) this.#running.delete(message.id);
    }
  }

  #toolCall(
    actor: WorkerActor,
    { number, ageMs }: BridgeLine,
    closed: AbortSignal,
    progress: ToolCall["progress"],
    after: (() => Promise<unknown>)[],
  ): ToolCall {
    const daemon = this.#daemon;
    const make = (name: CallName, params: unknown, items: unknown[]): Promise<unknown> =>
      dispatch(daemon, actor, name, params, new CollectingSink(closed, items));
    return {
      services: daemon.services,
      actor,
      nested: this.#peer.nested,
      messageId: sha256([actor.run.id, this.#peer.bridge, String(number)].join("\n")).slice(0, 16),
      ageMs,
      dispatch: async (name, params) => (await make(name, params, [])) as CallResults[typeof name],
      collect: async (name, params) => {
        const items: StreamItems[typeof name][] = [];
        await make(name, params, items);
        return items;
      },
      progress,
      handOver: (ids) => this.#handOver(actor, ids, after),
    };
  }

  #handOver(actor: WorkerActor, ids: readonly string[], after: (() => Promise<unknown>)[]): { mark?: string } {
    const { nested } = this.#peer;
    // A nested agent cannot acknowledge: what it gets counts as read at once.
    if (nested) return {};
    const piece = this.#daemon.services.couriers.toolPiece(actor.run.id, ids);
    if (piece === null) {
      const ack = { as: null, nested, ids: [...ids], how: "read" };
      after.push(() => dispatch(this.#daemon, actor, "ack", ack, new CollectingSink(NEVER, [])));
      return {};
    }
    after.push(async () => piece.answered());
    return { mark: piece.mark };
  }
}

const NEVER = new AbortController().signal;

/** The tool's end of one call of the daemon's: the items of a stream are collected. */
class CollectingSink implements CallSink {
  readonly closed: AbortSignal;
  readonly #items: unknown[];

  constructor(closed: AbortSignal, items: unknown[]) {
    this.closed = closed;
    this.#items = items;
  }

  async send(item: unknown): Promise<void> {
    this.#items.push(item);
  }

  holdWhileConnected(): void {
    throw new Error("no tool holds a run");
  }

  keepOpen(): void {
    throw new Error("no tool makes a call that stays open");
  }
}

const TOO_LONG = `That message exceeds the limit of ${BRIDGE_LINE_BYTES_MAX} bytes. (put long text in a file, and send the file)`;

function plain(text: string): Answer {
  return { text, after: [] };
}

function greeting(params: unknown, address: string): object {
  const { protocolVersion } = fieldsOf(params);
  const version = PROTOCOLS.find((known) => known === protocolVersion) ?? PROTOCOLS[0];
  return {
    protocolVersion: version,
    capabilities: { tools: {} },
    serverInfo: { name: "perdure", title: "perdure", version: VERSION },
    instructions: `You are ${address}. Other agents reach you under that name; these tools send, ask and reply.`,
  };
}

function describeTool({ name, title, description, readOnly, input, output }: Tool): object {
  const annotations = { title, readOnlyHint: readOnly, destructiveHint: false, openWorldHint: false };
  return { name, title, description, inputSchema: input, outputSchema: output, annotations };
}

/** Some programs show their model the structured content alone, others the text alone: so the whole answer is in both. */
function resultOf(structuredContent: object): object {
  return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
}

function failureOf(error: PerdureError): object {
  return { content: [{ type: "text", text: sentence(error) }], isError: true };
}

function sentence({ message, hint }: PerdureError): string {
  return hint === null ? message : `${message} (${hint})`;
}
