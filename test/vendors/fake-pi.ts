import { readdirSync } from "node:fs";
import { EVENT_PREFIX } from "../../src/vendors/index.ts";
import { extension, extensionFile } from "../../src/vendors/pi/extension.ts";
import { put } from "./fixtures.ts";

export interface Context {
  isIdle(): boolean;
  hasUI?: boolean;
  cwd?: string;
  ui?: unknown;
  sessionManager: {
    getSessionId(): string;
    getSessionFile(): string | undefined;
    getSessionName?(): string | undefined;
  };
}
type Handler = (event: Record<string, unknown>, context: Context) => unknown;
type Execute = (program: string, words: string[], options: object) => Promise<object>;

/** A stand-in for pi with just what the extension calls. */
export class FakePi {
  readonly handlers = new Map<string, Handler[]>();
  readonly commands = new Map<string, (args: string, context: Context) => Promise<void>>();
  readonly shortcuts = new Map<string, (context: Context) => Promise<void>>();
  readonly sent: unknown[][] = [];
  readonly exec: Execute;

  constructor(exec: Execute = () => Promise.reject(new Error("nobody runs a program"))) {
    this.exec = exec;
  }

  on(event: string, handler: Handler): void {
    this.handlers.set(event, [...(this.handlers.get(event) ?? []), handler]);
  }

  registerCommand(name: string, { handler }: { handler: (args: string, context: Context) => Promise<void> }): void {
    this.commands.set(name, handler);
  }

  registerShortcut(key: string, { handler }: { handler: (context: Context) => Promise<void> }): void {
    this.shortcuts.set(key, handler);
  }

  sendMessage(...message: unknown[]): void {
    this.sent.push(message);
  }

  /** Returns the answer of the last handler that has one. */
  emit(event: string, data: Record<string, unknown>, context: Context): unknown {
    const said = (this.handlers.get(event) ?? []).map((handler) => handler(data, context));
    return said.findLast((each) => each !== undefined);
  }
}

let loads = 0;

/** Loads the extension anew each time, as pi does for every conversation. */
export async function loadInto<Api extends object>(dir: string, api: Api): Promise<Api> {
  const { name, text } = extension(dir);
  put(dir, name, text);
  const module = (await import(`${extensionFile(dir)}?load=${++loads}`)) as { default: (api: Api) => void };
  module.default(api);
  return api;
}

export function inSession(id: string, idle = true): Context {
  return { isIdle: () => idle, sessionManager: { getSessionId: () => id, getSessionFile: () => `/s/t_${id}.jsonl` } };
}

export function eventsIn(dir: string): string[] {
  return readdirSync(dir).filter((name) => name.startsWith(EVENT_PREFIX));
}
