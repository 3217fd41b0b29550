import { connectToDaemon, type Client } from "../../src/client/connect.ts";
import type { CallParams } from "../../src/protocol/calls/index.ts";
import type { MessageRecord } from "../../src/protocol/records/mail.ts";
import { mkdirSync, writeFileSync } from "node:fs";
import { isPerdureError } from "../../src/protocol/errors.ts";
import { check, eventually } from "../support/check.ts";
import { clientClaim } from "../support/in-home.ts";
import { sendParams } from "../support/send-params.ts";
import { TurnHome } from "../support/turn-home.ts";

/** Who may begin a turn of whom: the senders that must be let in, for each worker. */
const RULES: Readonly<Record<string, { toml: string; letsIn: readonly string[] }>> = {
  "by-default": { toml: "", letsIn: ["operator", "peer"] },
  "of-operator": { toml: 'turns_from = ["operator"]', letsIn: ["operator"] },
  "of-peer": { toml: 'turns_from = ["peer"]', letsIn: ["peer"] },
  "of-supervisor": { toml: 'turns_from = ["operator", "supervisor"]', letsIn: ["operator"] },
  "of-child": { toml: 'turns_from = ["operator", "child"]', letsIn: ["operator"] },
  "of-supervisor-alone": { toml: 'turns_from = ["supervisor"]', letsIn: ["operator"] },
  // The operator started none of these two: the worker `peer` did.
  "peer-started": { toml: "", letsIn: ["operator", "peer"] },
  "peer-started-closed": { toml: 'turns_from = ["supervisor"]', letsIn: ["peer"] },
  unasked: { toml: 'args = ["--script", "obeys-mail", "--unasked"]', letsIn: ["operator"] },
};

const SENDERS = ["operator", "peer", "peer~nested", "stranger", "child"] as const;
type Sender = (typeof SENDERS)[number];
type Proof = NonNullable<CallParams<"send">["as"]>;

/** Sends from everybody to everybody, and checks that nobody begins a turn whom the worker's rule does not let in. */
export async function playTurnsFrom(): Promise<{ forbiddenPairs: number; turnsBegun: number }> {
  const toml = Object.entries(RULES).map(([name, { toml: rule }]) => `[workers.${name}]\n${rule}\n`);
  const home = new TurnHome("[workers.peer]\n");
  try {
    await home.up();
    const operator = await connectToDaemon({ env: home.env });
    const as = await sendersOf(home, operator);
    const begins = '[defaults]\nvendor = "scripted"\nmode = "turn"\nargs = ["--script", "obeys-mail"]\n';
    home.write(`${begins}[mail]\ndrop_dir = "drops"\n${toml.join("")}[workers.peer]\n`);
    await home.up();
    const figures = { forbiddenPairs: 0, turnsBegun: 0 };
    for (const [worker, { letsIn }] of Object.entries(RULES)) {
      const asks = SENDERS.map((sender) => ({ sender, id: `${worker}.${sender.replace("~", "-")}` }));
      // Those who may not come first: they wait in front of the others, and nobody takes them along.
      const inOrder = asks.toSorted((a, b) => Number(letsIn.includes(a.sender)) - Number(letsIn.includes(b.sender)));
      for (const { sender, id } of inOrder)
        await operator.call("send", sendParams(home, worker, id, { id, expectsReply: true, ...as[sender] }));
      const allowed = asks.filter(({ sender }) => letsIn.includes(sender));
      for (const { id } of allowed) {
        await eventually(`${id} to be answered`, async () => (await home.stateOf(id)) === "answered");
        figures.turnsBegun++;
      }
      await home.untilAsleep(worker);
      const told = (await home.told(worker)).join("\n");
      for (const { sender, id } of asks.filter((each) => !letsIn.includes(each.sender))) {
        const state = await home.stateOf(id);
        check(state === "queued", `${sender} began a turn of ${worker}: its ask is ${state}`);
        check(!told.includes(`Message ${id} `), `${worker} was told what ${sender} wrote`);
        figures.forbiddenPairs++;
      }
      check((await turnsOf(home, worker)) === allowed.length, `${worker} made more turns than it was allowed`);
    }
    figures.forbiddenPairs += await playOutsiders(home, as);
    operator.close();
    return figures;
  } finally {
    await home.clear();
  }
}

/** Makes the senders: a worker of the fleet, an agent inside it, a worker of no fleet, and one that the first has started. */
async function sendersOf(home: TurnHome, operator: Client): Promise<Record<Sender, Partial<CallParams<"send">>>> {
  const claim = async (client: Client, name: string): Promise<Proof> => {
    const { run, generation, token } = await client.call("claim", clientClaim(home, name, process.pid));
    return { run, generation, token };
  };
  const peer = await claim(operator, "peer");
  const socket = `${home.state}/perdure.sock`;
  const asPeer = await connectToDaemon({ env: { ...home.env, PERDURE_SOCKET: socket, PERDURE_TOKEN: peer.token } });
  const child = await claim(asPeer, "child");
  for (const name of Object.keys(RULES).filter((each) => each.startsWith("peer-started"))) {
    const { run, generation, token } = await claim(asPeer, name);
    await asPeer.call("release", { run, generation, token });
  }
  const stranger = await claim(operator, "stranger");
  asPeer.close();
  return {
    operator: {},
    peer: { as: peer },
    "peer~nested": { as: peer, nested: true },
    stranger: { as: stranger },
    child: { as: child },
  };
}

/** Has a file, a worker of another project, and an agent that calls itself the operator try; returns how many did. */
async function playOutsiders(home: TurnHome, as: Record<Sender, Partial<CallParams<"send">>>): Promise<number> {
  const worker = "by-default";
  const turnsBefore = await turnsOf(home, worker);
  const folder = `${home.project}/drops/to_${worker}`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/note.txt`, "go on");
  const ofFile = async (): Promise<MessageRecord | undefined> =>
    (await home.json<{ messages: MessageRecord[] }>(["mail", "--state", "all"])).messages.find(
      ({ body }) => body === "go on",
    );
  await eventually("the file to be taken in", async () => (await ofFile()) !== undefined);

  const socket = `${home.state}/perdure.sock`;
  const elsewhere = `${home.dir}/elsewhere`;
  mkdirSync(elsewhere);
  const operator = await connectToDaemon({ env: home.env });
  const foreign = await operator.call("claim", {
    ...clientClaim(home, "foreign", process.pid),
    target: { project: null, name: "foreign", here: { identity: elsewhere, root: elsewhere, base: "elsewhere" } },
  });
  const asForeign = await connectToDaemon({
    env: { ...home.env, PERDURE_SOCKET: socket, PERDURE_TOKEN: foreign.token },
  });
  await refused(asForeign.call("send", sendParams(home, worker, "hello", { project: "api", expectsReply: true })));

  const asAgent = await connectToDaemon({
    env: { ...home.env, PERDURE_SOCKET: socket, PERDURE_TOKEN: as.peer.as?.token ?? "" },
  });
  const {
    all: _all,
    to: _to,
    supersedes: _supersedes,
    expectsReply: _expectsReply,
    ...ask
  } = sendParams(home, worker, "hello");
  await refused(asAgent.call("ask", { ...ask, to: worker, id: "as-operator", waitMs: 1_000, turn: true }));

  check((await ofFile())?.state === "queued", "a file began a turn");
  check((await turnsOf(home, worker)) === turnsBefore, "somebody outside of the fleet began a turn");
  for (const client of [operator, asForeign, asAgent]) client.close();
  return 3;
}

async function refused(call: Promise<unknown>): Promise<void> {
  const outcome = await call.catch((error: unknown) => error);
  check(isPerdureError(outcome) && outcome.code === "refused", () => `not refused: ${JSON.stringify(outcome)}`);
}

async function turnsOf(home: TurnHome, name: string): Promise<number> {
  return (await home.history(name)).runs.filter(({ turn }) => turn !== undefined).length;
}
