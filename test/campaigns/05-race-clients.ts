import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Home } from "../support/home.ts";
import { check } from "../support/check.ts";
import { clientClaim } from "../support/in-home.ts";
import type { RacerOrders } from "./support/racer-process.ts";

const RACER = resolve(import.meta.dirname, "support/racer-process.ts");
const RACERS = 8;
/** Some owners die instead of letting go: a dead holder must be replaced at once, and never before. */
const DEATH_RATE = 0.01;

/** Eight processes race for one name until it was granted so often; their log is then read for overlaps. */
export async function raceClients(home: Home, grants: number, seed: number): Promise<Record<string, number>> {
  const log = join(home.dir, "owners.log");
  writeFileSync(log, "");
  await home.perdure(["daemon", "start"]);
  const counts = { granted: 0, refused: 0, died: 0 };
  const lanes = Array.from({ length: RACERS }, (_, lane) => new Lane(home, log, seed + lane * 1_000_003));
  const wanted = (): boolean => counts.granted + counts.died < grants;
  const onWord = (word: Word): void => {
    counts[word]++;
    if (!wanted()) for (const lane of lanes) lane.finish();
  };
  try {
    await Promise.all(lanes.map((lane) => lane.race(onWord)));
  } finally {
    for (const lane of lanes) lane.end();
  }
  const generations = checkLog(readFileSync(log, "utf8"));
  check(generations >= grants, `only ${generations} grants of ${grants}`);
  return { grants: generations, claimsRefused: counts.refused, ownersKilled: counts.died };
}

type Word = "granted" | "refused" | "died";

/** One racer, and its successor whenever it died as an owner. */
class Lane {
  readonly #home: Home;
  readonly #log: string;
  #seed: number;
  #child: ChildProcess | null = null;
  #finished = false;

  constructor(home: Home, log: string, seed: number) {
    this.#home = home;
    this.#log = log;
    this.#seed = seed;
  }

  async race(onWord: (word: Word) => void): Promise<void> {
    while (!this.#finished) {
      const child = this.#start();
      const lines = createInterface({ input: child.stdout ?? process.stdin });
      let died = false;
      lines.on("line", (word) => {
        died ||= word === "died";
        onWord(word as Word);
      });
      const [code, signal] = (await once(child, "close")) as [number | null, string | null];
      check(
        code === 0 || (died && signal === "SIGKILL"),
        `a racer ended with ${code ?? signal}: two owners, or it could not go on`,
      );
    }
  }

  finish(): void {
    this.#finished = true;
    this.#child?.stdin?.end();
  }

  /** After a violation elsewhere: it must not race on for nobody. */
  end(): void {
    this.finish();
    this.#child?.kill("SIGKILL");
  }

  #start(): ChildProcess {
    const { pid: _pid, ...claim } = clientClaim(this.#home, "coder", 1);
    const orders: RacerOrders = {
      claim,
      log: this.#log,
      heldFile: join(this.#home.dir, "held"),
      seed: this.#seed++,
      deathRate: DEATH_RATE,
    };
    const options = { env: this.#home.env, stdio: ["pipe", "pipe", "inherit"] as ("pipe" | "inherit")[] };
    this.#child = spawn(process.execPath, [RACER, JSON.stringify(orders)], options);
    if (this.#finished) this.#child.stdin?.end();
    return this.#child;
  }
}

/** Owners follow one another, never inside one another, and each has a higher generation. Returns how many there were. */
function checkLog(text: string): number {
  let last = 0;
  let inside: number | null = null;
  for (const line of text.trimEnd().split("\n")) {
    const [what, digits] = line.split(" ");
    const generation = Number(digits);
    if (what === "enter") {
      check(inside === null, `generation ${generation} entered while ${inside} was inside`);
      check(generation > last, `generation ${generation} came after ${last}`);
      inside = last = generation;
    } else {
      check(inside === generation, `generation ${generation} left while ${inside} was inside`);
      inside = null;
    }
  }
  return text.split("enter ").length - 1;
}
