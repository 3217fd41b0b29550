import { createInterface } from "node:readline";
import type { WorkerState, WorkerSummary } from "../../src/protocol/records/worker.ts";
import type { LiveSetup } from "./setup.ts";

/** Keeps every state that `ls --watch` tells of. */
export class StateLog {
  readonly #states: { name: string; state: WorkerState }[] = [];
  readonly #watching: ReturnType<LiveSetup["spawn"]>;

  constructor(setup: LiveSetup) {
    this.#watching = setup.spawn(["ls", "--watch", "--json"], {});
    const { stdout } = this.#watching;
    if (stdout === null) throw new Error("ls --watch prints nothing");
    createInterface({ input: stdout }).on("line", (line) => {
      const { workers } = JSON.parse(line) as { workers: WorkerSummary[] };
      this.#states.push(...workers.map(({ name, state }) => ({ name, state })));
    });
  }

  of(worker: string): WorkerState[] {
    return this.#states.filter(({ name }) => name === worker).map(({ state }) => state);
  }

  stop(): void {
    this.#watching.kill("SIGTERM");
  }
}
