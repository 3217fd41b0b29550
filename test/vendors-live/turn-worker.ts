import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { History } from "../../src/protocol/records/run.ts";
import type { WorkerSummary } from "../../src/protocol/records/worker.ts";
import type { Finished } from "../support/home.ts";
import { until } from "../terminal/tmux.ts";
import { writeFleet } from "./fleet-file.ts";
import type { ModelRequest } from "./model/index.ts";
import type { LiveSetup } from "./setup.ts";

/** The slowest tries seven times in 75 seconds; this only keeps one that hangs from hanging everything. */
const HELD_WITHIN_MS = 240_000;
const LOOK_EVERY_MS = 250;

/** A worker that has no process between messages, asked by processes that know its name alone. */
export class TurnWorker {
  readonly name: string;
  readonly #setup: LiveSetup;

  private constructor(setup: LiveSetup, name: string) {
    this.name = name;
    this.#setup = setup;
  }

  /** Declares the worker, with these arguments for its program, and brings it up: nothing runs then. */
  static async up(setup: LiveSetup, name: string, args: readonly string[] = []): Promise<TurnWorker> {
    writeFleet(setup, setup.home.project, [name], null, args, "turn");
    await setup.home.json(["up", "--yes"]);
    return new TurnWorker(setup, name);
  }

  /** Declares several, and brings them up. */
  static async all(setup: LiveSetup, names: readonly string[]): Promise<TurnWorker[]> {
    writeFleet(setup, setup.home.project, names, null, [], "turn");
    await setup.home.json(["up", "--yes"]);
    return names.map((name) => new TurnWorker(setup, name));
  }

  /** Asks, in a process of its own that waits for the answer. The text is in a file, because it may begin like an option. */
  ask(text: string, id: string): Promise<Finished> {
    const file = join(this.#setup.home.dir, id);
    writeFileSync(file, text);
    return this.#setup.perdure(["ask", this.name, "--file", file, "--id", id, "--timeout", "4m"]);
  }

  /** Waits for the first request in which the model is told the text as the worker's last turn. */
  told(text: string, since = 0): Promise<ModelRequest> {
    return this.#setup.model.until(
      ({ index, auxiliary, turns }) => index >= since && !auxiliary && turns.at(-1)?.includes(text) === true,
    );
  }

  /** How often the model was asked for the answer to a text. */
  timesAsked(text: string): number {
    const { requests } = this.#setup.model;
    return requests.filter(({ auxiliary, turns }) => !auxiliary && turns.at(-1)?.includes(text)).length;
  }

  async history(): Promise<History> {
    return this.#setup.home.json<History>(["history", this.name]);
  }

  /** The one conversation that the worker has ever been in. */
  async onlySession(): Promise<string> {
    const { sessions } = await this.history();
    assert.equal(sessions.length, 1, `one conversation: ${JSON.stringify(sessions)}`);
    return sessions[0]?.id ?? "none";
  }

  /** Waits until a turn has put the worker on hold: for as long as its program tries again. */
  async untilHeld(): Promise<WorkerSummary> {
    for (const deadline = Date.now() + HELD_WITHIN_MS; Date.now() < deadline;) {
      const seen = await this.until(
        "on hold, or still at it",
        ({ state }) => state === "on-hold" || state === "turning",
      );
      if (seen.state === "on-hold") return seen;
      await sleep(LOOK_EVERY_MS);
    }
    throw new Error(`${this.name} is not on hold: ${JSON.stringify(await this.history())}`);
  }

  /** Waits until the worker is as wanted. */
  async until(what: string, wanted: (worker: WorkerSummary) => boolean): Promise<WorkerSummary> {
    let seen: WorkerSummary | undefined;
    const look = async (): Promise<WorkerSummary | null> => {
      const { workers } = await this.#setup.home.json<{ workers: WorkerSummary[] }>(["ls"]);
      seen = workers.find(({ name }) => name === this.name);
      return seen && wanted(seen) ? seen : null;
    };
    return until(`${this.name} ${what}`, look, () => Promise.resolve(JSON.stringify(seen)));
  }
}
