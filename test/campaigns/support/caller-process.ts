import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { connectToDaemon, type Client } from "../../../src/client/connect.ts";
import type { CallName } from "../../../src/protocol/calls/index.ts";
import { asPerdureError } from "../../../src/protocol/errors.ts";
import { statePaths } from "../../../src/state/paths.ts";

// A process that does what it is told: one order a line, one answer a line. It outlives TERM, as an agent that hangs does.
// One connection per token, kept: a call over a connection that was opened before a takeover is a zombie's first move.

export interface CallOrder {
  do: "call";
  /** Null acts as the operator, like a library that claims. */
  token: string | null;
  call: CallName;
  params: unknown;
}
export type Order = CallOrder | { do: "environment" } | { do: "exit"; code: number };

export type Answer = { result: unknown } | { code: string; exitCode: number };

const STDOUT = 1;
const connections = new Map<string | null, Promise<Client>>();

process.on("SIGTERM", () => undefined);
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as Order;
  if (order.do === "exit") process.exit(order.code);
  const answer = order.do === "environment" ? environment() : await call(order);
  writeSync(STDOUT, `${JSON.stringify(answer)}\n`);
}
process.exit(0);

function environment(): Answer {
  const { PERDURE_RUN: run, PERDURE_GENERATION: generation, PERDURE_TOKEN: token } = process.env;
  return { result: { run, generation: Number(generation), token } };
}

async function call({ token, call: name, params }: CallOrder): Promise<Answer> {
  try {
    const client = await connection(token);
    return { result: await client.call(name, params as never) };
  } catch (thrown) {
    const { code, exitCode } = asPerdureError(thrown);
    return { code, exitCode };
  }
}

async function connection(token: string | null): Promise<Client> {
  const known = connections.get(token);
  if (known) return known;
  // A token of an earlier round: a daemon takes only so many connections.
  for (const [other, client] of connections) {
    if (other === null) continue;
    connections.delete(other);
    (await client).close();
  }
  const socket = statePaths(process.env).socket;
  const opened = connectToDaemon({
    env: { ...process.env, PERDURE_SOCKET: socket, PERDURE_TOKEN: token ?? "" },
    autostart: false,
  });
  connections.set(token, opened);
  return opened;
}
