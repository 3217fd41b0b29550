import { join } from "node:path";
import { connectToDaemon } from "../../src/client/connect.ts";
import { asPerdureError } from "../../src/protocol/errors.ts";
import { isAlive, processTable } from "../../src/runtime/process/index.ts";
import { campaign, seeded } from "../support/campaign.ts";
import type { Home } from "../support/home.ts";
import { check, eventually, whole, within } from "../support/check.ts";
import { failureIn, type Failure } from "./09-trace.ts";
import { inHome } from "../support/in-home.ts";
import { sendParams } from "../support/send-params.ts";
import { checkIntegrity, checkKept, keptMail, saltOfLog } from "./support/store-checks.ts";
import { Strace, straceRefused } from "./support/strace.ts";

interface Size {
  /** Which call of the daemon fails, counted from when the disk begins to die. */
  failing: readonly number[];
}

const SENDERS = 3;
/** The failing call is reached within SENDS_MAX sends; SENDS_AFTER more go well if nobody was to be told. */
const SENDS_MAX = 3_000;
const SENDS_AFTER = 20;
/** Up to here the command line sends; a later call would take it minutes to reach. */
const COMMANDS_UP_TO = 2;
const FAULTS = { sync: "fdatasync,fsync", write: "pwrite64" } as const;

export const ioError = campaign<Size>({
  number: 9,
  promise: "an I/O error is never acked",
  reduced: { failing: [1, 8, 60] },
  full: { failing: Array.from({ length: 200 }, (_, n) => n + 1) },
  async run(size, seed) {
    const refused = await straceRefused();
    if (refused === null) return inHome((home) => play(home, size, seed));
    process.stderr.write(`campaign 9 is skipped: ${refused}\n`);
    return { skipped: 1 };
  },
});

interface Context {
  home: Home;
  random: () => number;
  acked: Map<string, string>;
}

async function play(home: Home, size: Size, seed: number): Promise<Record<string, number>> {
  const tally = { syncErrors: 0, writeErrors: 0, refused: 0, daemonsLeft: 0, inCheckpoints: 0 };
  const context: Context = { home, random: seeded(seed), acked: new Map() };
  await home.perdure(["run", "coder", "--", "true"]);
  for (const nth of size.failing) {
    for (const fault of ["sync", "write"] as const) {
      const { refused, left } = await failOnce(context, fault, nth);
      tally[`${fault}Errors`]++;
      tally.refused += refused;
      tally[left ? "daemonsLeft" : "inCheckpoints"]++;
    }
  }
  checkIntegrity(home.state, "at the end");
  const kept = keptMail(home.state);
  const lost = [...context.acked.keys()].filter((id) => !kept.has(id)).length;
  return { ...tally, acked: context.acked.size, ackedLost: lost };
}

/** One call fails, once, as the kernel tells of a lost write: only the first who asks hears of it. */
async function failOnce(
  context: Context,
  fault: keyof typeof FAULTS,
  nth: number,
): Promise<{ refused: number; left: boolean }> {
  const { home } = context;
  const what = `${fault} ${nth}`;
  const client = await connectToDaemon({ env: home.env });
  const { pid } = await client.call("status", {});
  client.close();
  const daemon = processTable().inspect(pid);
  check(daemon !== null, `${what}: the daemon is gone before anything failed`);
  const options = ["-y", "-e", "trace=pwrite64,fdatasync,fsync", "-e", `inject=${FAULTS[fault]}:error=EIO:when=${nth}`];
  const strace = await Strace.attach(pid, join(home.dir, "faults"), options);
  const round = new Round(context, strace.file, `${fault}-${nth}`);
  await (nth <= COMMANDS_UP_TO ? round.sendByCommand() : round.sendBySeveral());
  let failure = await failureIn(strace.file);
  check(failure !== null, `${what}: it was not reached in ${SENDS_MAX} sends`);
  const left = round.refused.size > 0 || !failure.inCheckpoint;
  if (left) {
    await within(`the daemon to leave after ${failure.call}`, strace.ended);
    failure = await failureIn(strace.file);
    check(failure?.exit === 7, () => `${what}: the daemon ended with ${failure?.exit} after ${failure?.call}`);
  } else {
    // The log is whole, and what was being moved out of it will be moved again: nothing depended on it.
    await strace.detach();
    process.kill(pid, "SIGKILL");
    await eventually("SIGKILL of the daemon", () => !isAlive(processTable(), daemon));
  }
  await serveAgain(context, round.refused, left, what);
  return { refused: round.refused.size, left };
}

/** Sends until somebody is refused, or until it is clear that nobody will be. */
class Round {
  readonly refused = new Map<string, string>();
  readonly #context: Context;
  readonly #trace: string;
  readonly #prefix: string;
  #sends = 0;
  #failure: Failure | null = null;
  #sendsAfter = 0;

  constructor(context: Context, trace: string, prefix: string) {
    this.#context = context;
    this.#trace = trace;
    this.#prefix = prefix;
  }

  async sendByCommand(): Promise<void> {
    const { home } = this.#context;
    await this.#sendAll(async (id, body) => {
      const { code } = await home.perdure(["send", "coder", body, "--id", id]);
      return code;
    });
  }

  async sendBySeveral(): Promise<void> {
    await Promise.all(Array.from({ length: SENDERS }, () => this.#sendOverOne()));
  }

  async #sendOverOne(): Promise<void> {
    const { home } = this.#context;
    const client = await connectToDaemon({ env: home.env, autostart: false });
    await this.#sendAll(async (id, body) => {
      try {
        await client.call("send", sendParams(home, "coder", body, { id }));
        return 0;
      } catch (error) {
        return asPerdureError(error).exitCode;
      }
    });
    client.close();
  }

  async #sendAll(send: (id: string, body: string) => Promise<number>): Promise<void> {
    const { random, acked } = this.#context;
    while (await this.#goesOn()) {
      const id = `${this.#prefix}-${this.#sends++}`;
      const body = `${id} ${"x".repeat(whole(random, 300))}`;
      const code = await within(`an answer to ${id}`, send(id, body));
      check(code === 0 || code === 7, `${id} was refused with exit code ${code}`);
      (code === 0 ? acked : this.refused).set(id, body);
    }
  }

  async #goesOn(): Promise<boolean> {
    if (this.refused.size > 0 || this.#sends >= SENDS_MAX) return false;
    this.#failure ??= await failureIn(this.#trace);
    return this.#failure === null || this.#sendsAfter++ < SENDS_AFTER;
  }
}

/** The next daemon has all that was acknowledged, and takes what was refused when it is sent once more. */
async function serveAgain(
  { home, acked }: Context,
  refused: ReadonlyMap<string, string>,
  left: boolean,
  what: string,
): Promise<void> {
  const salt = saltOfLog(home.state);
  const client = await connectToDaemon({ env: home.env });
  checkKept(home.state, acked, `after ${what}`);
  for (const [id, body] of refused) {
    await client.call("send", sendParams(home, "coder", body, { id }));
    acked.set(id, body);
  }
  client.close();
  checkKept(home.state, acked, `after ${what}, sent again`);
  // What a failed sync left in the log may never reach the disk: whatever is appended to it would be lost with it.
  check(!left || refused.size === 0 || saltOfLog(home.state) !== salt, `after ${what} the same log was written on`);
}
