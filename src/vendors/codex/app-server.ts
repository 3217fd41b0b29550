import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { MINT_WAIT_MS, STDERR_CHARS_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { VERSION } from "../../protocol/version.ts";
import { fieldsOf, parseObject, textOf } from "../../util/fields.ts";
import type { MintRequest } from "../launch-plan.ts";
import { endGroupAndWait } from "../shared/child-group.ts";

/** The program, its arguments and its surroundings. */
export type ServerStart = Pick<MintRequest, "command" | "args" | "cwd" | "environment">;

/**
 * Has codex open a conversation and write it down before the program itself is started, so that its id is known from
 * the beginning. Naming it is what writes the file.
 */
export function mintThread({ name, from, ...start }: MintRequest): Promise<string> {
  return askAppServer(start, "open a conversation", (server) => openThread(server, name, start.cwd, from));
}

/** Starts codex's app-server for a few questions, and ends it. `what` says in an error what it was asked to do. */
export async function askAppServer<T>(
  { command, args, cwd, environment }: ServerStart,
  what: string,
  ask: (server: AppServerClient) => Promise<T>,
): Promise<T> {
  const [program = "", ...before] = command;
  // The child leads a process group, so that what a launcher started is ended with it.
  const options = { cwd, env: environment, detached: true };
  const child = spawn(program, [...before, ...args, "app-server"], { ...options, stdio: ["pipe", "pipe", "pipe"] });
  const server = new AppServerClient(child, what);
  try {
    return await Promise.race([greet(server).then(() => ask(server)), server.failed()]);
  } finally {
    // The server would linger for seconds without a network, and everything is written already.
    await endGroupAndWait(child);
  }
}

async function greet(server: AppServerClient): Promise<void> {
  // Without the capability it knows no queue.
  const capabilities = { experimentalApi: true };
  await server.call("initialize", { clientInfo: { name: "perdure", version: VERSION }, capabilities });
  server.notify("initialized");
}

/**
 * Opens a new conversation, or a branch of another one. It may read only: with a sandbox that lets codex write, the app-server
 * would save that its user trusts the folder, whom nobody has asked. The program itself takes the user's sandbox.
 */
async function openThread(server: AppServerClient, name: string, cwd: string, from: string | null): Promise<string> {
  const place = { cwd, sandbox: "read-only" };
  const { thread } = await (from === null
    ? server.call("thread/start", place)
    : server.call("thread/fork", { threadId: from, ...place, excludeTurns: true }));
  const id = textOf(fieldsOf(thread).id);
  if (id === null) throw server.failure("it answered without an id");
  await server.call("thread/name/set", { threadId: id, name });
  return id;
}

type RpcResult = Readonly<Record<string, unknown>>;

/** A client of codex's app-server: JSON-RPC, one message a line. */
export class AppServerClient {
  readonly #child: ChildProcess;
  readonly #what: string;
  readonly #waiting = new Map<number, { resolve: (answer: RpcResult) => void; reject: (error: Error) => void }>();
  #last = 0;
  #errors = "";

  constructor(child: ChildProcess, what: string) {
    this.#child = child;
    this.#what = what;
    child.stderr?.on(
      "data",
      (chunk: Buffer) => (this.#errors = `${this.#errors}${chunk.toString()}`.slice(-STDERR_CHARS_MAX)),
    );
    child.stdin?.on("error", () => undefined); // it ended early, which `failed` reports
    if (child.stdout) createInterface({ input: child.stdout }).on("line", (line) => this.#onLine(line));
  }

  call(method: string, params: object): Promise<RpcResult> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#write({ id, method, params });
    });
  }

  notify(method: string): void {
    this.#write({ method });
  }

  /** Rejects when the server cannot be started, ends, or takes too long; never resolves. */
  failed(): Promise<never> {
    return new Promise((_, reject) => {
      const timer = setTimeout(() => reject(this.failure(`it took longer than ${MINT_WAIT_MS} ms`)), MINT_WAIT_MS);
      timer.unref();
      this.#child.once("error", (error) => reject(this.failure(error.message)));
      this.#child.once("close", (code) => reject(this.failure(`it ended with ${code}: ${this.#errors.trim()}`)));
    });
  }

  failure(why: string): PerdureError {
    return new PerdureError("unavailable", `codex app-server could not ${this.#what}: ${why}.`, {
      hint: "start codex once by hand to see what it needs; perdure needs 0.166 or newer",
    });
  }

  #write(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  #onLine(line: string): void {
    const message = parseObject(line);
    const waiting = typeof message?.id === "number" ? this.#waiting.get(message.id) : undefined;
    if (!message || !waiting) return; // a notification
    const { result, error } = message;
    if (error !== undefined) waiting.reject(this.failure(JSON.stringify(error)));
    else waiting.resolve(fieldsOf(result));
  }
}
