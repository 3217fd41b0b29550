import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Home } from "../../support/home.ts";
import { check } from "../../support/check.ts";
import type { ConsumerOrders, ConsumerLine } from "./consumer-process.ts";

const CONSUMER = resolve(import.meta.dirname, "consumer-process.ts");

/** A message that was handed out at least once. */
interface Seen {
  attempt: number;
  body: string;
  acked: boolean;
}

/** One mailbox: its consumer, and a successor whenever that died, until told to end. */
export class MailboxReader {
  readonly name: string;
  readonly seen = new Map<string, Seen>();
  /** Each message once, when it was first handed out, by its sender. */
  readonly firsts = new Map<string, string[]>();
  readonly counts = { deaths: 0, redelivered: 0, offered: 0, acked: 0, missed: 0 };
  readonly #home: Home;
  readonly #mayDie: () => boolean;
  readonly #deathRate: number;
  #seed: number;
  #child: ChildProcess | null = null;
  #ending = false;

  constructor(home: Home, name: string, how: { seed: number; deathRate: number; mayDie: () => boolean }) {
    this.#home = home;
    this.name = name;
    this.#seed = how.seed;
    this.#deathRate = how.deathRate;
    this.#mayDie = how.mayDie;
  }

  async read(): Promise<void> {
    while (!this.#ending) {
      const orders: ConsumerOrders = {
        name: this.name,
        seed: this.#seed++,
        deathRate: this.#mayDie() ? this.#deathRate : 0,
      };
      const child = spawn(process.execPath, [CONSUMER, JSON.stringify(orders)], {
        cwd: this.#home.project,
        env: this.#home.env,
        stdio: ["ignore", "pipe", "inherit"],
      });
      this.#child = child;
      const violations: Error[] = [];
      createInterface({ input: child.stdout ?? process.stdin }).on("line", (line) => {
        try {
          this.#hear(JSON.parse(line) as ConsumerLine);
        } catch (error) {
          violations.push(error as Error);
          child.kill("SIGKILL");
        }
      });
      const [code, signal] = (await once(child, "close")) as [number | null, string | null];
      if (violations[0]) throw violations[0];
      check(signal === "SIGKILL", `a consumer of ${this.name} ended with ${code ?? signal}`);
    }
  }

  /** SIGKILL from outside, at any moment of its life. */
  kill(): void {
    if (this.#child?.kill("SIGKILL")) this.counts.deaths++;
  }

  end(): void {
    this.#ending = true;
    this.#child?.kill("SIGKILL");
  }

  #hear(word: ConsumerLine): void {
    if ("died" in word) this.counts.deaths++;
    else if ("missed" in word) this.counts.missed++;
    else if ("acked" in word) this.#acked(word.acked);
    else this.#offered(word);
  }

  #acked(id: string): void {
    const seen = this.seen.get(id);
    check(seen !== undefined, `${id} was acknowledged and never handed out`);
    seen.acked = true;
    this.counts.acked++;
  }

  #offered({ offered: id, attempt, from, body }: Extract<ConsumerLine, { offered: string }>): void {
    this.counts.offered++;
    const before = this.seen.get(id);
    if (before === undefined) {
      this.seen.set(id, { attempt, body, acked: false });
      const earlier = this.firsts.get(from);
      if (earlier) earlier.push(id);
      else this.firsts.set(from, [id]);
      return;
    }
    check(!before.acked, `${id} was handed out again after its acknowledgement was taken`);
    check(attempt > before.attempt, `${id} was handed out again as attempt ${attempt}, after ${before.attempt}`);
    check(body === before.body, `${id} came again with another body`);
    before.attempt = attempt;
    this.counts.redelivered++;
  }
}
