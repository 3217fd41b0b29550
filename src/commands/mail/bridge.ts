import { spawn } from "node:child_process";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { BRIDGE_PENDING_BYTES_MAX, BRIDGE_RETRY_MS, BRIDGE_RETRY_MS_MAX } from "../../limits/index.ts";

export interface BridgeOrder {
  /** The first line for the daemon: who this is. */
  hello: string;
  socket: string;
  startDaemon: string[];
}

/** Does what bin/mcp-bridge.pl does, on machines without perl; resolves when the agent's program has closed its end. */
export function runBridge(order: BridgeOrder, environment: Record<string, string>): Promise<void> {
  return new Promise((resolve) => {
    const bridge = new Bridge(order, environment);
    const typed = createInterface({ input: process.stdin, crlfDelay: Infinity });
    typed.on("line", (line) => bridge.take(line));
    typed.on("close", resolve);
    process.stdout.on("error", () => resolve());
  });
}

class Bridge {
  readonly #order: BridgeOrder;
  readonly #environment: Record<string, string>;
  /** The lines that were not answered, by number. */
  readonly #pending = new Map<number, { line: string; cameMs: number }>();
  #pendingBytes = 0;
  #number = 0;
  #daemon: Socket | null = null;
  #isReady = false;
  #retryMs = BRIDGE_RETRY_MS;

  constructor(order: BridgeOrder, environment: Record<string, string>) {
    this.#order = order;
    this.#environment = environment;
  }

  take(line: string): void {
    if (line === "") return;
    this.#pending.set(++this.#number, { line, cameMs: performance.now() });
    this.#pendingBytes += Buffer.byteLength(line);
    if (this.#pendingBytes >= BRIDGE_PENDING_BYTES_MAX) process.stdin.pause();
    if (this.#isReady) this.#send(this.#number);
    else if (this.#daemon === null) this.#reach();
  }

  #send(number: number): void {
    const asked = this.#pending.get(number);
    if (asked === undefined) return;
    const age = Math.floor((performance.now() - asked.cameMs) / 1000);
    this.#daemon?.write(`${number} ${age} ${asked.line}\n`);
  }

  /** Connects to the daemon; has one started if there is none. */
  #reach(): void {
    const socket = connect(this.#order.socket);
    this.#daemon = socket;
    let wasConnected = false;
    socket.once("connect", () => {
      wasConnected = true;
      socket.write(`${this.#order.hello}\n`);
    });
    const lines = createInterface({ input: socket, crlfDelay: Infinity }).on("line", (line) => this.#receive(line));
    for (const each of [socket, lines]) each.on("error", () => undefined); // "close" follows
    socket.once("close", () => {
      this.#daemon = null;
      this.#isReady = false;
      if (this.#pending.size > 0) this.#retry(wasConnected);
    });
  }

  #retry(wasConnected: boolean): void {
    if (wasConnected) return void setTimeout(() => this.#reach(), BRIDGE_RETRY_MS);
    const [program = "", ...args] = this.#order.startDaemon;
    const starter = spawn(program, args, { env: this.#environment, stdio: "ignore" });
    const waitMs = this.#retryMs;
    this.#retryMs = Math.min(BRIDGE_RETRY_MS_MAX, 2 * waitMs);
    starter.once("error", () => setTimeout(() => this.#reach(), waitMs));
    starter.once("exit", (code) => setTimeout(() => this.#reach(), code === 0 ? 0 : waitMs));
  }

  #receive(line: string): void {
    if (!this.#isReady) return this.#greet(line);
    const [, number, text] = /^([0-9]+) (.*)$/s.exec(line) ?? [];
    if (number === undefined) return;
    const asked = this.#pending.get(Number(number));
    if (this.#pending.delete(Number(number))) this.#pendingBytes -= Buffer.byteLength(asked?.line ?? "");
    if (this.#pendingBytes < BRIDGE_PENDING_BYTES_MAX) process.stdin.resume();
    if (text && (asked !== undefined || number === "0")) process.stdout.write(`${text}\n`);
  }

  #greet(line: string): void {
    if (!line.startsWith('{"perdure"')) return void this.#daemon?.destroy();
    this.#isReady = true;
    this.#retryMs = BRIDGE_RETRY_MS;
    for (const number of this.#pending.keys()) this.#send(number);
  }
}
