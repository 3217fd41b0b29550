import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { check, whole, within } from "../support/check.ts";
import type { LockOrder } from "./support/lock-process.ts";

const LOCKER = resolve(import.meta.dirname, "support/lock-process.ts");
const LOCKERS = 4;
/** Far enough ahead that every order has arrived, whatever the machine is doing. */
const AHEAD_MS = 6;

/** The lock alone, tried for in the same millisecond over leftovers: far more often than whole daemons can start. */
export async function raceForLock(file: string, rounds: number, random: () => number): Promise<Record<string, number>> {
  const lockers = Array.from({ length: LOCKERS }, () => new Locker());
  let undecided = 0;
  try {
    for (let round = 0; round < rounds; round++) {
      rmSync(file, { force: true });
      if (random() < 0.8) writeFileSync(file, "4711\n".repeat(1 + whole(random, 2_000)));
      const atMs = Date.now() + AHEAD_MS;
      const answers = await Promise.all(lockers.map((locker) => locker.order({ take: file, atMs })));
      const failed = answers.find((answer) => answer.startsWith("failed"));
      check(failed === undefined, `in round ${round} of the lock race a process ${failed}`);
      const holders = answers.filter((answer) => answer === "taken").length;
      // None is fine: SQLite may refuse all who come at once, and a daemon tries again. Two never are.
      if (holders === 0) undecided++;
      check(holders <= 1, `${holders} processes hold the lock after round ${round} of the lock race`);
      await Promise.all(lockers.map((locker) => locker.order("release")));
    }
  } finally {
    for (const locker of lockers) locker.end();
    rmSync(file, { force: true });
  }
  return { lockRaces: rounds, lockRacesUndecided: undecided };
}

class Locker {
  readonly #child: ChildProcess = spawn(process.execPath, [LOCKER], { stdio: ["pipe", "pipe", "inherit"] });
  readonly #lines: Interface = createInterface({ input: this.#child.stdout ?? process.stdin });

  async order(order: LockOrder): Promise<string> {
    const answer = once(this.#lines, "line") as Promise<[string]>;
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
    return (await within("a locker's answer", answer))[0];
  }

  end(): void {
    this.#child.kill("SIGKILL");
  }
}
