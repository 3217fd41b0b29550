import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { connectToDaemon } from "../../src/client/connect.ts";
import type { CallParams } from "../../src/protocol/calls/index.ts";
import { Home } from "../support/home.ts";
import { sendParams } from "../support/send-params.ts";
import { echoServer } from "./claiming.ts";
import { memory } from "./memory.ts";
import type { Row } from "./report.ts";
import { interleaveAsync, percentile, stretches } from "./sampling.ts";

const WARM_UP = 500;
const STRETCHES = 12;
const ROUNDS = 200;
const SENDERS = 60;
const EACH = 200;
const BURSTS = 7;
const STORED = 100_000;
const REGISTERED = 10_000;
const RESTARTS = 15;

/** Durable mail, against one echo over a unix socket plus one 4 KB write and fdatasync, and against itself. */
export async function mails(): Promise<Row[]> {
  const home = new Home();
  try {
    await home.perdure(["run", "reader", "--", "true"]);
    return [...(await latency(home)), burst(home), ...(await registered(home)), await restarted(home)];
  } finally {
    await home.clear();
  }
}

export function benchMessage(project: string, to: string, id: string | null): CallParams<"send"> {
  return sendParams({ project }, to, "x".repeat(200), { id });
}

async function latency(home: Home): Promise<Row[]> {
  const client = await connectToDaemon({ env: home.env });
  const floor = await echoServer(join(home.dir, "echo.sock"), join(home.dir, "floor"));
  const send = async (): Promise<void> => {
    await client.call("send", benchMessage(home.project, "reader", null));
  };
  await interleaveAsync(WARM_UP, [floor.once, send]);
  const all = await stretches(STRETCHES, ROUNDS, [floor.once, send]);
  floor.close();
  client.close();
  // The quietest by the floor's own time; and of the tails the shortest, because most are the machine's.
  const [echo = [], ours = []] = all.toSorted(([a = []], [b = []]) => percentile(a, 0.5) - percentile(b, 0.5))[0] ?? [];
  const [p50, least] = [percentile(ours, 0.5), percentile(echo, 0.5)];
  const [spread = 0, tail = 0] = [0, 1].map((at) =>
    Math.min(...all.map((times) => percentile(times[at] ?? [], 0.99) / percentile(times[at] ?? [], 0.5))),
  );
  return [
    row("durable send, p50", ms(p50), `${ms(least)} echo + fdatasync`, p50 / least, 1.3),
    // Where the disk itself keeps everybody waiting now and then, nobody's tail can be shorter than the floor's.
    {
      ...row("durable send, p99 to p50", ms(tail * p50), `${spread.toFixed(2)} × the echo's`, tail, 2.5),
      noise: spread,
    },
  ];
}

/** The best of a few: the first ones warm both sides up. */
function burst(home: Home): Row {
  const program = join(import.meta.dirname, "burst.ts");
  const rates = Array.from({ length: BURSTS }, (_, round) => {
    const words = [program, home.dir, home.project, String(SENDERS), String(EACH), String(round)];
    return Number(execFileSync(process.execPath, words, { encoding: "utf8" }));
  });
  const rate = Math.max(...rates);
  return row(
    `burst of ${SENDERS} senders × ${EACH}, goal 30,000 a second`,
    `${Math.round(rate).toLocaleString("en")} msg/s`,
    "30,000 msg/s",
    30_000 / rate,
    1,
  );
}

/** Ten thousand names, each with its first message: registered by mail to names that a fleet file declares. */
async function registered(home: Home): Promise<Row[]> {
  const client = await connectToDaemon({ env: home.env });
  const names = Array.from({ length: REGISTERED }, (_, n) => `worker-${n}`);
  const since = performance.now();
  for (let at = 0; at < names.length; at += 1_000) {
    const some = names.slice(at, at + 1_000);
    await client.call("send", { ...benchMessage(home.project, "", null), to: some, declared: some });
  }
  const seconds = (performance.now() - since) / 1000;
  const resolve = async (): Promise<void> => {
    const name = names[Math.floor(Math.random() * names.length)] ?? "";
    const here = { identity: home.project, root: home.project, base: "api" };
    const target = { project: null, name, here };
    await client.collect("peekMail", { as: null, nested: false, here, project: null, target, all: false, limit: 1 });
  };
  const floor = await echoServer(join(home.dir, "bare.sock"), null);
  const all = await stretches(3 * STRETCHES, ROUNDS, [floor.once, resolve]);
  floor.close();
  const resident = memory(`/proc/${home.daemonPid()}/status`, "VmRSS") / 1000;
  client.close();
  const [least = 0, p99 = 0] = [0, 1].map((at) => Math.min(...all.map((times) => percentile(times[at] ?? [], 0.99))));
  return [
    {
      ...row("registering 10,000 workers, batched", `${seconds.toFixed(2)} s`, "-", seconds * 1000, 1_500),
      unit: "ms",
    },
    { ...row("the daemon with 10,000 workers, RSS", `${resident.toFixed(1)} MB`, "-", resident, 105), unit: "MB" },
    { ...row("resolve one of 10,000, p99", ms(p99), `${ms(least)} echo`, p99, 0.5), unit: "ms" },
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
    return row(
      "restart with 100,000 stored",
      `${ours.toFixed(0)} ms`,
      `${floor.toFixed(0)} ms empty store`,
      ours / floor,
      1.2,
    );
  } finally {
    await empty.clear();
  }
}

function ms(time: number): string {
  return `${time.toFixed(2)} ms`;
}

function row(what: string, ours: string, floor: string, value: number, goal: number): Row {
  return { what, ours, floor, value, goal, unit: "×" };
}
