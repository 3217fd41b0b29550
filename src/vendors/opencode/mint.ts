import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { MINT_WAIT_MS, STDERR_CHARS_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { textOf } from "../../util/fields.ts";
import type { MintRequest } from "../launch-plan.ts";
import { endGroupAndWait } from "../shared/child-group.ts";
import { freePort } from "../shared/free-port.ts";
import { OpencodeServer } from "./server.ts";

/** Has opencode open a conversation, or branch one, before the program itself is started: no option of the program chooses an id. */
export async function mintSession({ name, from, ...context }: MintRequest): Promise<string> {
  try {
    return await withServer(context, (server) => open(server, name, from));
  } catch (error) {
    throw cannotOpen(error instanceof Error ? error.message : String(error));
  }
}

/** Starts opencode's server, on a port and under a password that nobody else knows, and ends it when it was used. */
export async function withServer<T>(
  { command, cwd, environment }: Pick<MintRequest, "command" | "cwd" | "environment">,
  use: (server: OpencodeServer) => Promise<T>,
): Promise<T> {
  const [program = "", ...before] = command;
  const password = process.getBuiltinModule("node:crypto").randomUUID();
  const port = await freePort();
  // opencode takes PWD for its working folder.
  const env = { ...environment, PWD: cwd, OPENCODE_SERVER_PASSWORD: password };
  const options = { cwd, env, detached: true };
  const words = [...before, "serve", "--hostname", "127.0.0.1", "--port", String(port)];
  const child = spawn(program, words, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  const failing = failed(child);
  failing.catch(() => undefined); // after the race is won, we end the server ourselves
  const used = listening(child).then(() => {
    return use(new OpencodeServer({ port, password }, AbortSignal.timeout(MINT_WAIT_MS)));
  });
  try {
    return await Promise.race([used, failing]);
  } finally {
    await endGroupAndWait(child);
  }
}

async function open(server: OpencodeServer, name: string, from: string | null): Promise<string> {
  const path = from === null ? "/session" : `/session/${from}/fork`;
  const id = textOf((await server.call("POST", path, from === null ? { title: name } : {})).id);
  if (id === null) throw new Error("it answered without an id");
  if (from !== null) await server.call("PATCH", `/session/${id}`, { title: name });
  return id;
}

function listening(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (!child.stdout) return;
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line.includes("listening on http://")) resolve();
    });
  });
}

/** Rejects when the server cannot be started, ends, or takes too long; never resolves. */
function failed(child: ChildProcess): Promise<never> {
  return new Promise((_, reject) => {
    let errors = "";
    child.stderr?.on("data", (chunk: Buffer) => (errors = `${errors}${chunk.toString()}`.slice(-STDERR_CHARS_MAX)));
    const timer = setTimeout(() => reject(new Error(`it took longer than ${MINT_WAIT_MS} ms`)), MINT_WAIT_MS);
    timer.unref();
    child.once("error", (error) => reject(error));
    child.once("close", (code) => reject(new Error(`it ended with ${code}: ${errors.trim()}`)));
  });
}

function cannotOpen(why: string): PerdureError {
  return new PerdureError("unavailable", `opencode serve could not open a conversation: ${why}.`, {
    hint: "start opencode once by hand to see what it needs; perdure needs 1.18 or newer",
  });
}
