import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  LISTEN_ANSWER_MS,
  LISTEN_RETRY_MS,
  MINT_WAIT_MS,
  RUN_FILE_BYTES_MAX,
  RUN_POLL_MS,
} from "../../limits/index.ts";
import type { Activity, BlockedReason, Outward, Sign } from "../../protocol/records/conversation.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import { fieldsOf, parseObject, textOf } from "../../util/fields.ts";
import type { LaunchFile } from "../launch-plan.ts";
import { afterFailedTurn } from "../shared/failed-turn.ts";
import { OpencodeServer } from "./server.ts";

const SERVER_FILE = "server.json";

/** The file that says where the program's own server is, and what opens it. The run's folder is its owner's alone. */
export function serverFile(port: string, password: string | null): LaunchFile {
  return { name: SERVER_FILE, text: `${JSON.stringify({ port, password })}\n` };
}

const FIRST_PROMPT_FILE = "first-prompt.json";

/** The file with the first prompt, and with the model and the agent that the user has chosen for the program. */
export function firstPromptFile(text: string, model: string | null, agent: string | null): LaunchFile {
  const [providerID = "", ...rest] = model?.split("/") ?? [];
  const chosen = rest.length === 0 ? {} : { model: { providerID, modelID: rest.join("/") } };
  const body = { parts: [{ type: "text", text }], ...chosen, ...(agent === null ? {} : { agent }) };
  return { name: FIRST_PROMPT_FILE, text: `${JSON.stringify(body)}\n` };
}

/** Listens until it is stopped, and reconnects: the server comes up a second after the start, and may be busy. */
export function listen(
  run: { runDir: string; session: string },
  onSign: (sign: Sign) => void,
  onActivity: (outward: Outward) => void,
): () => void {
  const stop = new AbortController();
  void follow(run.runDir, new EventReader(run, { onSign, onActivity }, stop.signal), stop.signal);
  return () => stop.abort();
}

async function follow(runDir: string, reader: EventReader, signal: AbortSignal): Promise<void> {
  let waitMs = LISTEN_RETRY_MS;
  while (!signal.aborted) {
    const address = serverAddressIn(runDir);
    if (address) {
      // The server may not be up yet, or may have ended.
      await reader.followEvents(new OpencodeServer(address, signal), 4 * waitMs).catch(() => undefined);
    }
    await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined);
    waitMs = Math.min(waitMs * 1.2, 2 * RUN_POLL_MS);
  }
}

/** Returns where the program's own server is, and what opens it; null if it has none. */
export function serverAddressIn(runDir: string): { port: number; password: string | null } | null {
  const fields = parseObject(readIfReadable(join(runDir, SERVER_FILE), RUN_FILE_BYTES_MAX));
  const port = Number(fields?.port);
  return Number.isInteger(port) && port > 0 ? { port, password: textOf(fields?.password) } : null;
}

const EVENT_LINE =
  /"type":"(server\.connected|message\.updated|session\.status|session\.error|(permission|question)\.(asked|replied|rejected))"/;

interface Listener {
  onSign: (sign: Sign) => void;
  /** Hears what the program does where that proves nothing about its conversation. */
  onActivity: (outward: Outward) => void;
}

/** The state of one program from connection to connection. */
class EventReader {
  /** The conversation that was spoken in last. */
  #current: string;
  /** The time of the last prompt; older ones are repeated at a reconnect and ignored. */
  #promptedMs = Date.now();
  #hasReported = false;
  /** The questions to the user that were not answered yet, by the request's id. */
  readonly #openQuestions = new Map<string, BlockedReason>();
  readonly #run: { runDir: string; session: string };
  readonly #listener: Listener;
  readonly #signal: AbortSignal;

  constructor(run: { runDir: string; session: string }, listener: Listener, signal: AbortSignal) {
    this.#run = run;
    this.#current = run.session;
    this.#listener = listener;
    this.#signal = signal;
  }

  async followEvents(server: OpencodeServer, answerMs: number): Promise<void> {
    const events = server.events((line) => EVENT_LINE.test(line), answerMs);
    for await (const { type, properties } of events) {
      const about = fieldsOf(properties);
      if (type === "server.connected") await this.#onConnection(server);
      else if (type === "message.updated") await this.#onMessage(server, about.info);
      else if (type === "session.status") this.#onStatus(about);
      else if (type === "session.error") this.#onError(about);
      else await this.#onQuestion(server, textOf(type) ?? "", about);
    }
  }

  /** Sends the first prompt, and reports a turn that began before the connection. */
  async #onConnection(server: OpencodeServer): Promise<void> {
    await sendFirstPrompt(this.#run.runDir, this.#run.session, server);
    const busy = await server.call("GET", "/session/status", undefined, LISTEN_ANSWER_MS);
    if (Object.hasOwn(busy, this.#current)) this.#report(this.#current, "a turn, reported by its own server", "busy");
    // Only conversations at work are listed. This says nothing of which conversation the program shows.
    else if (!this.#signal.aborted) this.#listener.onActivity({ activity: "idle" });
  }

  /** Follows prompts only: an old conversation may still be working while its user is in another one. */
  async #onMessage(server: OpencodeServer, info: unknown): Promise<void> {
    const message = fieldsOf(info);
    const session = textOf(message.sessionID);
    const atMs = createdMs(message);
    if (message.role !== "user" || session === null || atMs <= this.#promptedMs) return;
    const known = await server.call("GET", `/session/${session}`, undefined, LISTEN_ANSWER_MS);
    if (textOf(known.parentID) !== null) return; // it belongs to an agent that the agent started
    this.#promptedMs = atMs;
    this.#current = session;
    this.#report(session, "a prompt, reported by its own server", "busy");
  }

  #onStatus(about: Readonly<Record<string, unknown>>): void {
    if (about.sessionID !== this.#current || !this.#hasReported) return;
    const status = fieldsOf(about.status).type;
    if (status === "idle") this.#openQuestions.clear();
    // The status is busy while the user is asked, too.
    else if (this.#openQuestions.size > 0) return;
    this.#report(this.#current, "status, reported by its own server", status === "idle" ? "idle" : "busy");
  }

  /** Handles a turn that failed. A retry is no error: it is a status, and the program is at work. */
  #onError(about: Readonly<Record<string, unknown>>): void {
    if (about.sessionID !== this.#current || this.#signal.aborted) return;
    const error = fieldsOf(about.error);
    const { message, statusCode } = fieldsOf(error.data);
    const known = error.name === "ProviderAuthError" ? "authentication" : null;
    const status = typeof statusCode === "number" ? statusCode : null;
    this.#listener.onActivity(afterFailedTurn({ error: known, status, words: textOf(message) }));
  }

  /** Handles questions to the user; agents below the agent ask them, too. */
  async #onQuestion(server: OpencodeServer, type: string, about: Readonly<Record<string, unknown>>): Promise<void> {
    const [what, happened] = type.split(".");
    const id = textOf(happened === "asked" ? about.id : about.requestID);
    const session = textOf(about.sessionID);
    if (id === null || session === null || !(await this.#isCurrentOrBelow(server, session))) return;
    if (happened === "asked") this.#openQuestions.set(id, what === "permission" ? "permission" : "question");
    else this.#openQuestions.delete(id);
    const blocked = [...this.#openQuestions.values()].at(-1);
    const evidence = `${what} ${happened}, reported by its own server`;
    this.#report(this.#current, evidence, blocked ? "blocked" : "busy", blocked);
  }

  async #isCurrentOrBelow(server: OpencodeServer, session: string): Promise<boolean> {
    if (session === this.#current) return true;
    const known = await server.call("GET", `/session/${session}`, undefined, LISTEN_ANSWER_MS);
    return textOf(known.parentID) === this.#current;
  }

  #report(session: string, evidence: string, activity?: Activity, blocked?: BlockedReason): void {
    if (this.#signal.aborted) return;
    this.#hasReported = true;
    this.#listener.onSign({ session, means: "open", evidence, activity, ...(blocked ? { blocked } : {}) });
  }
}

/** Sends the first prompt at most once, however often the connection is made: twice would be two turns. */
async function sendFirstPrompt(runDir: string, session: string, server: OpencodeServer): Promise<void> {
  const body = parseObject(readIfReadable(join(runDir, FIRST_PROMPT_FILE), RUN_FILE_BYTES_MAX));
  if (body === null) return;
  rmSync(join(runDir, FIRST_PROMPT_FILE));
  await server.call("POST", `/session/${session}/prompt_async`, body, MINT_WAIT_MS);
}

function createdMs({ time }: Readonly<Record<string, unknown>>): number {
  const { created } = fieldsOf(time);
  return typeof created === "number" ? created : 0;
}
