import { spawn } from "node:child_process";
import { dirname } from "node:path";
import { connectToDaemon, type Client } from "../../src/client/connect.ts";
import { isPerdureError, type PerdureError } from "../../src/protocol/errors.ts";
import { findDaemons, processTable } from "../../src/runtime/process/index.ts";
import { statePaths } from "../../src/state/paths.ts";
import { campaign, seeded } from "../support/campaign.ts";
import { check, eventually, percentile, pick, within } from "../support/check.ts";
import { BIN, finish, type Home } from "../support/home.ts";
import { inHome } from "../support/in-home.ts";
import { sendParams } from "../support/send-params.ts";
import { killDaemons } from "./support/daemons.ts";
import { REMOVALS, type Removal } from "./27-removals.ts";

interface Size {
  rounds: number;
}

/** The time that a start takes on a machine with nothing else to do: where it takes longer, everything may. */
const IDLE_START_MS = 200;
const ANSWER_MS_MAX = 2_000;
const SENDS_AT_ONCE = 8;

export const ownFiles = campaign<Size>({
  number: 27,
  promise: "its own files removed",
  reduced: { rounds: REMOVALS.length },
  full: { rounds: 200 },
  run: (size, seed) => inHome((home) => play(home, size, seed)),
});

async function play(home: Home, size: Size, seed: number): Promise<Record<string, number>> {
  try {
    return await new Rounds(home, seeded(seed)).play(size);
  } catch (violation) {
    // A daemon that nobody can reach would hold up the clearing of the home.
    await killDaemons(home);
    throw violation;
  }
}

class Rounds {
  readonly #home: Home;
  readonly #random: () => number;
  readonly #acked = new Set<string>();
  readonly #answerMs: number[] = [];
  #nextId = 0;
  #floorMs = IDLE_START_MS;
  #refused = 0;
  #words = 0;

  constructor(home: Home, random: () => number) {
    this.#home = home;
    this.#random = random;
  }

  async play({ rounds }: Size): Promise<Record<string, number>> {
    const home = this.#home;
    await home.perdure(["run", "coder", "--", "true"]);
    const { worker } = await home.start("sleeper", ["sleep", "86400"]);
    const run = worker.run?.id ?? "";
    this.#floorMs = await this.#plainStartMs();
    for (let round = 0; round < rounds; round++) {
      const removal = REMOVALS[round] ?? pick(this.#random, REMOVALS);
      await this.#round(removal, `round ${round}, ${removal.what}`);
      await this.#checkAlive(run, removal.what);
    }
    return {
      rounds,
      acked: this.#acked.size,
      ackedMissing: 0,
      refusedIntoGoneStore: this.#refused,
      ackedIntoGoneStore: 0,
      servingTwice: 0,
      clearWords: this.#words,
      plainStartMs: Math.round(this.#floorMs),
      answerMsMedian: percentile(this.#answerMs, 0.5),
      answerMsMax: percentile(this.#answerMs, 1),
    };
  }

  /** The floor of this machine at this hour: one daemon stopped, the next one started and asked. */
  async #plainStartMs(): Promise<number> {
    const times: number[] = [];
    for (let n = 0; n < 3; n++) {
      await this.#home.perdure(["daemon", "stop"]);
      const startedAt = performance.now();
      (await connectToDaemon({ env: this.#home.env })).close();
      times.push(performance.now() - startedAt);
    }
    return percentile(times, 0.5);
  }

  async #round(removal: Removal, what: string): Promise<void> {
    const home = this.#home;
    const before = await connectToDaemon({ env: home.env });
    check((await this.#send(before)) === SENDS_AT_ONCE, `${what}: mail was refused before anything happened`);
    const underWay = removal.leavesCopy ? Promise.resolve(0) : this.#send(before);
    removal.act(home);
    const removedAt = performance.now();
    if (removal.storeGone) await this.#checkNothingAcked(before, what);
    const word = await this.#answer(what, removedAt);
    await underWay;
    before.close();
    if (word !== null) await this.#followHint(word, what);
    await this.#checkServed(what);
  }

  /** Messages to the daemon whose store is gone must not be acknowledged. */
  async #checkNothingAcked(client: Client, what: string): Promise<void> {
    const acked = await within(`${what}: answers of the old daemon`, this.#send(client), 8_000);
    check(acked === 0, `${what}: ${acked} messages were acknowledged into a store that is gone`);
    this.#refused += SENDS_AT_ONCE;
  }

  /** Sends some messages at once; returns how many were acknowledged, and remembers them. */
  async #send(client: Client): Promise<number> {
    const ids = Array.from({ length: SENDS_AT_ONCE }, () => `kept-${this.#nextId++}`);
    const answers = await Promise.allSettled(
      ids.map((id) => client.call("send", sendParams(this.#home, "coder", id, { id }))),
    );
    const acked = ids.filter((_, index) => answers[index]?.status === "fulfilled");
    for (const id of acked) this.#acked.add(id);
    return acked.length;
  }

  /** A client that knows of nothing: it is served, or told what happened; null or the word. Never by two daemons. */
  async #answer(what: string, removedAt: number): Promise<PerdureError | null> {
    const bound = ANSWER_MS_MAX * Math.max(1, this.#floorMs / IDLE_START_MS);
    for (;;) {
      const leftMs = Math.max(1, removedAt + bound - performance.now());
      const answer = await within(`${what}: an answer within ${Math.round(bound)} ms`, this.#ask(), leftMs);
      this.#checkOneDaemon(what);
      // A daemon that is about to leave closes its connections; whoever was on one tries again.
      if (isPerdureError(answer) && answer.code === "unavailable") continue;
      this.#answerMs.push(performance.now() - removedAt);
      if (answer === null) return null;
      check(isPerdureError(answer) && answer.code === "damaged", () => `${what}: ended with ${JSON.stringify(answer)}`);
      if (answer.hint?.startsWith("perdure doctor")) continue;
      this.#words++;
      return answer;
    }
  }

  async #ask(): Promise<unknown> {
    try {
      const client = await connectToDaemon({ env: this.#home.env });
      await client.call("send", sendParams(this.#home, "coder", "is anybody there?"));
      client.close();
      return null;
    } catch (error) {
      return error;
    }
  }

  #checkOneDaemon(what: string): void {
    const serving = findDaemons(processTable(), statePaths(this.#home.env)).map(({ pid }) => pid);
    check(serving.length <= 1, () => `${what}: ${serving.join(" and ")} have the store open`);
  }

  /** A word is clear if doing what it says helps, letter by letter. */
  async #followHint({ message, hint }: PerdureError, what: string): Promise<void> {
    const command = (hint ?? "").replace(/^move it back: /, "").replace(/; or .*$/, "");
    const env = { ...this.#home.env, PATH: `${dirname(BIN)}:${this.#home.env.PATH ?? ""}` };
    const script = `perdure() { '${BIN}' "$@"; }; ${command}`;
    const { code, stderr } = await finish(spawn("sh", ["-c", script], { env, cwd: this.#home.project }));
    check(code === 0, `${what}: after ${JSON.stringify(message)} the hint failed: ${command}: ${stderr}`);
  }

  /** Everything that was ever acknowledged is in the store that is served now. */
  async #checkServed(what: string): Promise<void> {
    const client = await connectToDaemon({ env: this.#home.env });
    const newest = [...this.#acked].slice(-4 * SENDS_AT_ONCE);
    const oldest = [...this.#acked].slice(0, SENDS_AT_ONCE);
    for (const id of [...newest, ...oldest]) {
      const found = await client.call("showMail", { as: null, nested: false, id }).catch(String);
      check(typeof found !== "string", () => `${what}: ${id} was acknowledged, and is lost: ${JSON.stringify(found)}`);
      check(found.message.body === id, `${what}: ${id} was changed`);
    }
    client.close();
  }

  /** The worker that runs all the time is the same process under the same name, whatever became of the folder. */
  async #checkAlive(run: string, what: string): Promise<void> {
    check(this.#home.processesOf(run).length > 0, `${what}: the worker is gone`);
    await eventually(`${what}: one daemon`, () => findDaemons(processTable(), statePaths(this.#home.env)).length === 1);
    const refused = await this.#home.perdure(["run", "sleeper", "--", "true"]);
    check(refused.code === 4, `${what}: the name of a living worker was given away: ${refused.stderr}`);
  }
}
