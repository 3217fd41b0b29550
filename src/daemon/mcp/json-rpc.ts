import { isTable, textOf } from "../../util/fields.ts";

/** A message of an MCP client: a request if it has an id, else a notification. */
export interface RpcMessage {
  id: string | number | null;
  method: string;
  params: unknown;
}

export const RPC_ERRORS = { parse: -32700, invalid: -32600, method: -32601, params: -32602, refused: -32001 } as const;

/** Returns the message on a line; null for a line that is none, such as an answer of the client's. */
export function readMessage(line: string): RpcMessage | "not-json" | null {
  const value = parsed(line);
  if (value === undefined) return "not-json";
  if (!isTable(value)) return null;
  const method = textOf(value.method);
  if (method === null) return null;
  const { id } = value;
  return { id: typeof id === "string" || typeof id === "number" ? id : null, method, params: value.params };
}

/** Finds the id of a message of which only the beginning and the end are left: clients write it before the method, or last. */
export function idInCut(text: string): RpcMessage["id"] {
  const [, first] = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*([0-9]+|"[^"\\]*")\s*,/.exec(text) ?? [];
  const [, last] = /"id"\s*:\s*([0-9]+|"[^"\\]*")\s*\}\s*$/.exec(text) ?? [];
  const id = first ?? last;
  return id === undefined ? null : (JSON.parse(id) as string | number);
}

export function resultLine(id: RpcMessage["id"], result: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}

export function errorLine(id: RpcMessage["id"], code: number, message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });
}

export function notificationLine(method: string, params: object): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}
