import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connectToDaemon, type Client } from "../../src/client/connect.ts";
import { openSocket } from "../../src/client/socket-wire.ts";
import { IDLE_MEMORY_CHECK_MS } from "../../src/limits/index.ts";
import type { CallParams } from "../../src/protocol/calls/index.ts";
import { statePaths } from "../../src/state/paths.ts";
import { Home } from "../support/home.ts";
import { sendParams } from "../support/send-params.ts";
import { echoServer } from "./claiming.ts";
import { bareInserts } from "./floors/bare-inserts.ts";
import { bareNodes, memory, memoryRow } from "./memory.ts";
import { withLeast, type Row } from "./report.ts";
import { interleaveAsync, milliseconds, percentile, spreadOf, spreadOfFew, stretches } from "./sampling.ts";

const WARM_UP = 500;
const STRETCHES = 12;
const ROUNDS = 200;
const SENDERS = 60;
const EACH = 200;
const BURSTS = 7;
const STORED = 100_000;
const REGISTERED = 10_000;
const PER_CALL = 1_000;
const RESTARTS = 15;

/** Durable mail, against one echo over a unix socket plus one 4 KB write and fdatasync, and against a bare server. */
export async function mails(home: Home): Promise<Row[]> {
  await home.perdure(["run", "reader", "--", "true"]);
  return [...(await latency(home)), ...(await burst(home))];
}

/** Ten thousand workers: how long registering them takes, what they weigh, how fast one is found, and a restart. */
export async function crowds(home: Home): Promise<Row[]> {
  await home.perdure(["run", "reader", "--", "true"]);
  return [...(await registered(home)), await restarted(home)];
}

export function benchMessage(project: string, to: string, id: string | null): CallParams<"send"> {
  return sendParams({ project }, to, "x".repeat(200), { id });
}

async function latency(home: Home): Promise<Row[]> {
  const bare = await bareServer(home);
  const client = await socketClient(home.env);
  const bareClient = await socketClient({ ...home.env, HOME: bare.dir });
  const floor = await echoServer(join(home.dir, "echo.sock"), join(home.dir, "floor"));
  const sendBy = (to: Client) => async (): Promise<void> => {
    await to.call("send", benchMessage(home.project, "reader", null));
  };
  const contenders = [floor.once, sendBy(bareClient), sendBy(client)];
  await interleaveAsync(WARM_UP, contenders);
  const all = await stretches(STRETCHES, ROUNDS, contenders);
  floor.close();
  bareClient.close();
  client.close();
  bare.stop();
  // The quietest by the floor's own time; and of the tails the shortest, because most are the machine's.
  const [echo = [], leastOf = [], ours = []] =
    all.toSorted(([a = []], [b = []]) => percentile(a, 0.5) - percentile(b, 0.5))[0] ?? [];
  const [p50, least, bareP50] = [percentile(ours, 0.5), percentile(echo, 0.5), percentile(leastOf, 0.5)];
  const [tailOfFloor = 0, tail = 0] = [0, 2].map((at) =>
    Math.min(...all.map((times) => percentile(times[at] ?? [], 0.99) / percentile(times[at] ?? [], 0.5))),
  );
  const spread = spreadOfFew(all.map(([times = []]) => percentile(times, 0.5)));
  const row: Row = {
    what: "durable send, p50",
    ours: milliseconds(p50),
    floor: `${milliseconds(least)} echo + fdatasync`,
    value: p50 / least,
    goal: 1.3,
    spread,
  };
  const bareRow = {
    what: "the same tables, one commit and the frames",
    ours: milliseconds(bareP50),
    value: bareP50 / least,
  };
  return [
    ...withLeast([row], bareRow),
    {
      what: "durable send, p99 in p50",
      ours: milliseconds(tail * p50),
      floor: `${tailOfFloor.toFixed(2)} × the floor's own`,
      value: tail,
      goal: 2.5,
      // Where the disk itself keeps everybody waiting now and then, nobody's tail can be shorter than the floor's.
      noise: tailOfFloor,
      spread,
    },
  ];
}

/** A client by Node's sockets, as the floor's is. */
function socketClient(env: Record<string, string>): Promise<Client> {
  return connectToDaemon({ env, open: openSocket });
}

/** The best of a few, in turn with a bare server that commits in groups: the same program sends to both. */
async function burst(home: Home): Promise<Row[]> {
  const bare = await bareServer(home, "burst");
  const digesting = await bareServer(home, "digests", ["--digests"]);
  const rates: [bare: number[], digesting: number[], ours: number[]] = [[], [], []];
  try {
    for (let round = 0; round < BURSTS; round++) {
      for (const [at, { dir }] of [bare, digesting, home].entries()) rates[at]?.push(rateOf(dir, home.project, round));
    }
  } finally {
    bare.stop();
    digesting.stop();
  }
  const [floor, least, ours] = [Math.max(...rates[0]), Math.max(...rates[1]), Math.max(...rates[2])];
  const row: Row = {
    what: `burst of ${SENDERS} senders × ${EACH}, durable`,
    ours: perSecond(ours),
    floor: `${perSecond(floor)} bare group commit`,
    value: ours / floor,
    goal: 0.8,
    failAt: 0.3,
    isAtLeast: true,
    spread: spreadOfFew(rates[0].slice(1)),
  };
  const what = "the same with each message checked, found its reader, and digested";
  return withLeast([row], { what, ours: perSecond(least), value: least / floor });
}

function rateOf(dir: string, project: string, round: number): number {
  const words = [join(import.meta.dirname, "burst.ts"), dir, project, String(SENDERS), String(EACH), String(round)];
  return Number(execFileSync(process.execPath, words, { encoding: "utf8" }));
}

function perSecond(rate: number): string {
  return `${Math.round(rate).toLocaleString("en")} msg/s`;
}

/** A bare server where a client looks for the daemon of a home. */
async function bareServer(home: Home, name = "bare", flags: string[] = []): Promise<{ dir: string; stop: () => void }> {
  const dir = join(home.dir, name);
  const { socket } = statePaths({ HOME: dir });
  mkdirSync(dirname(socket), { recursive: true, mode: 0o700 });
  const program = join(import.meta.dirname, "floors", "bare-server.ts");
  const server = spawn(process.execPath, [program, socket, join(dir, "store.db"), ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(server.stdout, "data");
  return { dir, stop: () => server.kill("SIGKILL") };
}

/** Ten thousand names, each with its first message: registered by mail to names that a fleet file declares. */
async function registered(home: Home): Promise<Row[]> {
  const client = await socketClient(home.env);
  const names = Array.from({ length: REGISTERED }, (_, n) => `worker-${n}`);
  const [floors = [], leasts = []] = [false, true].map((digests) =>
    Array.from({ length: 3 }, (_, n) => bareInserts(join(home.dir, `bare-${n}-${digests}.db`), names, digests)),
  );
  const since = performance.now();
  for (let at = 0; at < names.length; at += PER_CALL) {
    const some = names.slice(at, at + PER_CALL);
    await client.call("send", { ...benchMessage(home.project, "", null), to: some, declared: some });
  }
  const took = performance.now() - since;
  const bare = await bareServer(home, "crowd", ["--workers", String(REGISTERED)]);
  const bareClient = await socketClient({ ...home.env, HOME: bare.dir });
  const resolveBy = (from: Client) => async (): Promise<void> => {
    const name = names[Math.floor(Math.random() * names.length)] ?? "";
    const here = { identity: home.project, root: home.project, base: "api" };
    const target = { project: null, name, here };
    await from.collect("peekMail", { as: null, nested: false, here, project: null, target, all: false, limit: 1 });
  };
  const floor = await echoServer(join(home.dir, "bare.sock"), null);
  const all = await stretches(3 * STRETCHES, ROUNDS, [floor.once, resolveBy(bareClient), resolveBy(client)]);
  floor.close();
  bareClient.close();
  bare.stop();
  client.close();
  await sleep(3 * IDLE_MEMORY_CHECK_MS);
  const resident = memory(`/proc/${home.daemonPid()}/status`, "VmRSS");
  const [least = 0, bareP99 = 0, p99 = 0] = [0, 1, 2].map((at) =>
    Math.min(...all.map((times) => percentile(times[at] ?? [], 0.99))),
  );
  const bareTook = Math.min(...floors);
  const leastTook = Math.min(...leasts);
  const registering: Row = {
    what: "registering 10,000 workers by their first message",
    ours: milliseconds(took),
    floor: `${milliseconds(bareTook)} bare inserts`,
    value: took / bareTook,
    goal: 1.5,
    failAt: 20,
    spread: spreadOfFew(floors),
  };
  const finding: Row = {
    what: "one of 10,000 found, p99",
    ours: milliseconds(p99),
    floor: `${milliseconds(least)} echo, p99`,
    value: p99 / least,
    goal: 3,
    failAt: 15,
    spread: spreadOfFew(all.map(([times = []]) => percentile(times, 0.5))),
  };
  const checked = "the same inserts with names looked up, digests and JSON";
  const selects = "the frames and two statements, p99";
  return [
    ...withLeast([registering], { what: checked, ours: milliseconds(leastTook), value: leastTook / bareTook }),
    memoryRow("the daemon with 10,000 workers, RSS", resident, await bareNodes(home.env), 2.3),
    ...withLeast([finding], { what: selects, ours: milliseconds(bareP99), value: bareP99 / least }),
  ];
}

/** To serving again, with a hundred thousand messages stored and with none. */
async function restarted(home: Home): Promise<Row> {
  const empty = new Home();
  try {
    await empty.perdure(["run", "reader", "--", "true"]);
    const client = await connectToDaemon({ env: home.env });
    for (let at = 0; at < STORED; at += 500) {
      await Promise.all(
        Array.from({ length: 500 }, (_, n) => {
          const to = `worker-${(at + n) % REGISTERED}`;
          return client.call("send", benchMessage(home.project, to, `stored-${at + n}`));
        }),
      );
    }
    client.close();
    const full: number[] = [];
    const bare: number[] = [];
    for (let n = 0; n < RESTARTS; n++) {
      for (const [one, times] of [
        [home, full],
        [empty, bare],
      ] as const) {
        await one.perdure(["daemon", "stop"]);
        const since = performance.now();
        await one.perdure(["daemon", "start"]);
        times.push(performance.now() - since);
      }
    }
    const [ours, floor] = [percentile(full, 0.5), percentile(bare, 0.5)];
    return {
      what: "restart with 100,000 messages stored",
      ours: milliseconds(ours),
      floor: `${milliseconds(floor)} empty store`,
      value: ours / floor,
      goal: 1.2,
      spread: spreadOf(bare),
    };
  } finally {
    await empty.clear();
  }
}
