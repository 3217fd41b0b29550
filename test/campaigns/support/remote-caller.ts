import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface, type Interface } from "node:readline";
import type { CallName, CallParams, CallResults } from "../../../src/protocol/calls/index.ts";
import { check, Violation, within } from "../../support/check.ts";
import type { Answer, Order } from "./caller-process.ts";

export const CALLER = resolve(import.meta.dirname, "caller-process.ts");

/** Controls a `caller-process.ts`: sends it orders and reads its answers. */
export class RemoteCaller {
  readonly child: ChildProcess;
  readonly #lines: Interface;

  constructor(child: ChildProcess) {
    if (!child.stdout || !child.stdin) throw new Error("the caller process needs pipes");
    this.child = child;
    this.#lines = createInterface({ input: child.stdout });
    child.stdin.on("error", () => undefined); // it may be dead already; the missing answer tells
  }

  async order(order: Order): Promise<Answer> {
    const listening = new AbortController();
    const { signal } = listening;
    const answer = once(this.#lines, "line", { signal }) as Promise<[string]>;
    const ended = once(this.child, "close", { signal }).then(([code]): [string] => {
      throw new Violation(`the caller process ended with ${code} before it answered ${JSON.stringify(order)}`);
    });
    this.child.stdin?.write(`${JSON.stringify(order)}\n`);
    const first = Promise.race([answer, ended]);
    for (const loser of [answer, ended]) loser.catch(() => undefined);
    const [line] = await within(`an answer to ${JSON.stringify(order)}`, first).finally(() => listening.abort());
    return JSON.parse(line) as Answer;
  }

  /** Makes a call that has to succeed. */
  async call<N extends CallName>(name: N, params: CallParams<N>): Promise<CallResults[N]> {
    const answer = await this.order({ do: "call", token: null, call: name, params });
    check("result" in answer, () => `${name}: ${JSON.stringify(answer)}`);
    return answer.result as CallResults[N];
  }

  /** Makes the process exit, and resolves when it is gone. */
  async exit(code: number): Promise<void> {
    const closed = once(this.child, "close");
    this.child.stdin?.write(`${JSON.stringify({ do: "exit", code } satisfies Order)}\n`);
    await within("the caller process to exit", closed);
  }
}
