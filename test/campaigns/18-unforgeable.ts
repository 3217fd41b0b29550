import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectToDaemon, type Client } from "../../src/client/connect.ts";
import { isPerdureError } from "../../src/protocol/errors.ts";
import type { StreamItems } from "../../src/protocol/calls/index.ts";
import { campaign, seeded } from "../support/campaign.ts";
import type { Home } from "../support/home.ts";
import {
  attack,
  DECLARED_VICTIM,
  OTHER_PROJECT,
  STOPPED_VICTIM,
  type Attack,
  type Parties,
  type Proof,
} from "./18-attacks.ts";
import { playTurnsFrom } from "./18-turns-from.ts";
import { sendUnderFalseNames } from "./18-false-names.ts";
import { check, within } from "../support/check.ts";
import { clientClaim, inHome } from "../support/in-home.ts";
import { sendParams, projectRefOf } from "../support/send-params.ts";
import { StoreRows } from "./support/store-rows.ts";

interface Size {
  attempts: number;
  bodies: number;
  commands: number;
}

const REFUSALS = new Set(["refused", "stale", "displaced", "usage", "conflict", "held", "not-found"]);

/** A refusal takes a millisecond; a machine that needs seconds for it has come to a stop. */
const REFUSAL_MS_MAX = 5_000;

export const unforgeable = campaign<Size>({
  number: 18,
  promise: "the sender cannot be forged",
  reduced: { attempts: 600, bodies: 40, commands: 2 },
  full: { attempts: 10_000, bodies: 1_000, commands: 40 },
  async run(size, seed) {
    const figures = await inHome((home) => play(home, size, seed));
    return { ...figures, ...(await playTurnsFrom()) };
  },
});

async function play(home: Home, size: Size, seed: number): Promise<Record<string, number>> {
  const random = seeded(seed);
  const operator = await connectToDaemon({ env: home.env });
  const connections = new ConnectionPool(home);
  const rows = new StoreRows(join(home.state, "perdure.db"));
  try {
    const parties = await partiesOf(home, operator);
    const kinds = new Map<string, number>();
    const before = rows.everything();
    let refusals = 0;
    for (let n = 0; n < size.attempts; n++) {
      const tried = attack(parties, random);
      await refused(connections, tried);
      refusals++;
      rows.checkEverything(before, () => `${tried.what}: ${tried.call}`);
      kinds.set(tried.what, (kinds.get(tried.what) ?? 0) + 1);
    }
    const rowsChanged = rows.differences(before);
    const told = await sendUnderFalseNames(parties, operator, connections, random, size);
    const attempts = [...kinds.values()].reduce((sum, count) => sum + count, 0);
    return { attempts, kinds: kinds.size, refused: refusals, accepted: attempts - refusals, rowsChanged, ...told };
  } finally {
    rows.close();
    connections.close();
    operator.close();
  }
}

/** One connection per token, kept: an attacker that has one does not come anew for each try. */
export class ConnectionPool {
  readonly #home: Home;
  readonly #open = new Map<string | null, Client>();

  constructor(home: Home) {
    this.#home = home;
  }

  async as(token: string | null): Promise<Client> {
    const known = this.#open.get(token);
    if (known) return known;
    const env = { ...this.#home.env, PERDURE_SOCKET: join(this.#home.state, "perdure.sock") };
    const client = await connectToDaemon({ env: { ...env, ...(token === null ? {} : { PERDURE_TOKEN: token }) } });
    this.#open.set(token, client);
    return client;
  }

  close(): void {
    for (const client of this.#open.values()) client.close();
  }
}

async function refused(connections: ConnectionPool, { what, token, call, params }: Attack): Promise<void> {
  const items: unknown[] = [];
  const about = (): string => `${what}: ${call} ${JSON.stringify(params)}`;
  const answer = connections
    .as(token)
    .then((client) => client.stream(call as keyof StreamItems, params as never, (item) => items.push(item)))
    .then(
      (result: unknown) => ({ result }),
      (error: unknown) => ({ error }),
    );
  // A call that is accepted may last as long as its connection, and say nothing.
  const outcome = await within(`a refusal of ${about()}`, answer, REFUSAL_MS_MAX);
  check(items.length === 0, () => `${about()} was shown ${JSON.stringify(items)}`);
  if ("error" in outcome) {
    const { error } = outcome;
    check(isPerdureError(error) && REFUSALS.has(error.code), () => `${about()} ended with ${String(error)}`);
    return;
  }
  // An acknowledgement is answered with what it did not count for; that is a refusal when it is all of it.
  const { acked } = outcome.result as { acked?: unknown[] };
  check(acked?.length === 0, () => `${about()} was answered with ${JSON.stringify(outcome.result)}`);
}

async function partiesOf(home: Home, operator: Client): Promise<Parties> {
  const claim = async (name: string): Promise<Proof> => {
    const { run, generation, token } = await operator.call("claim", clientClaim(home, name, process.pid));
    return { run, generation, token };
  };
  writeFileSync(join(home.project, "perdure.toml"), `[workers.${DECLARED_VICTIM}]\ncommand = ["true"]\n`);
  await operator.call("release", await claim(STOPPED_VICTIM));
  await operator.call("send", sendParams(home, STOPPED_VICTIM, "for its next run"));
  const folder = join(home.dir, OTHER_PROJECT);
  mkdirSync(folder);
  const here = { identity: folder, root: folder, base: OTHER_PROJECT };
  const there = clientClaim(home, STOPPED_VICTIM, process.pid);
  const { run, generation, token } = await operator.call("claim", { ...there, target: { ...there.target, here } });
  await operator.call("release", { run, generation, token });
  const dead = await claim("victim");
  await operator.call("release", dead);
  const bystander = await claim("bystander");
  const [victim, mallory] = [await claim("victim"), await claim("mallory")];
  const mail = { offered: "offered-1", queued: "queued-1", sent: "sent-1" };
  await operator.call("send", sendParams(home, "victim", "to be answered", { id: mail.offered, expectsReply: true }));
  const receive = { as: victim, nested: false, here: projectRefOf(home), project: null, max: 1, waitMs: 0 };
  const { messages } = await operator.call("takeMail", receive);
  check(messages[0]?.id === mail.offered, "the victim was not offered its mail");
  await operator.call("send", sendParams(home, "victim", "for the coder", { id: mail.queued, as: bystander }));
  await operator.call("send", sendParams(home, "bystander", "from the victim", { id: mail.sent, as: victim }));
  return { home, mallory, victim, dead, mail };
}
