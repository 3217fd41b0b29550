import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { claimWithRetry } from "../../src/client/claim.ts";
import { connectToDaemon, type Client } from "../../src/client/connect.ts";
import { Home } from "../support/home.ts";
import { SEEDS, type Axis } from "./growth-seeds.ts";
import { benchMessage } from "./mailing.ts";
import { preparedResume } from "./resuming.ts";
import { percentile, stretches } from "./sampling.ts";

const STRETCHES = 9;
const ROUNDS = 40;
/** Stretches after which V8 has compiled what a call runs: before, the store that is asked first looks slower. */
const WARM_UPS = 5;
const RESUMES = 12;
const LIMIT = 20;

/** One call over one axis: what it takes at each size, in its time at the smallest size, which is taken beside it. */
export interface Curve {
  axis: string;
  what: string;
  sizes: readonly number[];
  figures: number[];
  /** The same by the daemon's processor time, which other work on the machine hardly changes; null for a call that has other processes in it. */
  processor: (number | null)[];
  goal: number;
}

const GOAL = 1.2;

/** Takes every call at every size of every axis, in turn with the same call at the smallest size, and prints how each grows. */
export async function growths(): Promise<Curve[]> {
  const curves: Curve[] = [];
  for (const axis of SEEDS) {
    const ofAxis = await growthsOf(axis);
    for (const curve of ofAxis) console.log(lineOf(curve));
    curves.push(...ofAxis);
  }
  return curves;
}

/** How much more the largest size costs than the smallest one. */
export function growthOf({ figures }: Curve): number {
  return figures.at(-1) ?? Number.NaN;
}

function lineOf(curve: Curve): string {
  const { axis, what, sizes, figures, processor, goal } = curve;
  const steps = sizes
    .map((size, at) => `${size.toLocaleString("en")}: ${figures[at]?.toFixed(2)} × (${processorTime(processor[at])})`)
    .join(", ");
  return `${what} by ${axis}: ${steps} (goal ≤ ${goal} ×) ${growthOf(curve) <= goal ? "ok" : "over the goal"}`;
}

/** Writes a figure of processor time; a dash where there is none. */
export function processorTime(figure: number | null | undefined): string {
  return figure == null ? "-" : `${figure.toFixed(2)} ×`;
}

async function growthsOf(axis: Axis): Promise<Curve[]> {
  const [least = 1, ...larger] = axis.sizes;
  const small = await seededHome(axis, least);
  const curves = new Map<string, Curve>();
  try {
    for (const size of larger) {
      const large = await seededHome(axis, size);
      try {
        for (const [what, figure, cpu] of [...(await callFigures(small, large)), await resumeFigure(small, large)]) {
          const { name, sizes } = axis;
          const curve = curves.get(what) ?? { axis: name, what, sizes, figures: [1], processor: [1], goal: GOAL };
          curve.figures.push(figure);
          curve.processor.push(cpu);
          curves.set(what, curve);
        }
      } finally {
        await large.clear();
      }
    }
  } finally {
    await small.clear();
  }
  return [...curves.values()];
}

async function seededHome(axis: Axis, size: number): Promise<Home> {
  const home = new Home();
  for (const name of ["probe", "bench"]) await home.perdure(["run", name, "--", "true"]);
  await home.perdure(["daemon", "stop"]);
  axis.seed(join(home.state, "perdure.db"), size);
  const { seconds } = await timedStart(home);
  console.log(`${size.toLocaleString("en")} ${axis.name}: started in ${seconds.toFixed(2)} s`);
  return home;
}

async function timedStart(home: Home): Promise<{ seconds: number }> {
  const since = performance.now();
  const { code, stderr } = await home.perdure(["daemon", "start"]);
  if (code !== 0) throw new Error(stderr);
  return { seconds: (performance.now() - since) / 1000 };
}

type Figure = [what: string, figure: number, processor: number | null];

/** Both stores are asked in turn, after calls that warm both up; of the stretches the median counts. */
async function callFigures(small: Home, large: Home): Promise<Figure[]> {
  const clients = await Promise.all([small, large].map((home) => connectToDaemon({ env: home.env })));
  const [ofSmall = [], ofLarge = []] = [small, large].map((home, at) => callsOf(home, requireClient(clients[at])));
  const figures: Figure[] = [];
  for (const [at, [what, call]] of ofSmall.entries()) {
    const contenders = [call, ofLarge[at]?.[1] ?? call];
    await stretches(WARM_UPS, ROUNDS, contenders);
    const ratios: number[] = [];
    const ofProcessor: number[] = [];
    for (let stretch = 0; stretch < STRETCHES; stretch++) {
      const before = [small, large].map(processorOf);
      const [[few = [], many = []] = []] = await stretches(1, ROUNDS, contenders);
      ratios.push(percentile(many, 0.5) / percentile(few, 0.5));
      const [ofFew = 1, ofMany = 1] = [small, large].map((home, which) => processorOf(home) - (before[which] ?? 0));
      ofProcessor.push(ofMany / ofFew);
    }
    figures.push([what, percentile(ratios, 0.5), percentile(ofProcessor, 0.5)]);
  }
  for (const client of clients) client.close();
  return figures;
}

/** Milliseconds of the processor that the daemon of a home has used. */
function processorOf(home: Home): number {
  const tasks = `/proc/${home.daemonPid()}/task`;
  const nanoseconds = readdirSync(tasks).map((task) =>
    Number(readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ")[0]),
  );
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6;
}

function requireClient(client: Client | undefined): Client {
  if (client === undefined) throw new Error("there is no client");
  return client;
}

async function resumeFigure(small: Home, large: Home): Promise<Figure> {
  const [few, many] = [await preparedResume(small, "claude"), await preparedResume(large, "claude")];
  const times: [number[], number[]] = [[], []];
  for (let round = 0; round < RESUMES; round++) {
    times[0].push(await few.ours());
    times[1].push(await many.ours());
  }
  return ["resume", percentile(times[1], 0.5) / percentile(times[0], 0.5), null];
}

function callsOf(home: Home, client: Client): [what: string, call: () => Promise<unknown>][] {
  const here = { identity: home.project, root: home.project, base: "api" };
  const target = { project: null, name: "probe", here };
  const place = { as: null, nested: false, here, project: null };
  return [
    ["send", () => client.call("send", benchMessage(home.project, "probe", null))],
    ["claim and release", () => claimAndRelease(client, { ...target, name: "bench" })],
    ["ls of one project", () => client.collect("ls", { here, project: null, all: false })],
    ["history", () => client.collect("history", { target, limit: LIMIT })],
    ["inbox", () => client.collect("peekMail", { ...place, target, all: false, limit: LIMIT })],
  ];
}

async function claimAndRelease(client: Client, target: Parameters<typeof claimWithRetry>[1]["target"]): Promise<void> {
  const { run, generation, token } = await claimWithRetry(async () => client, {
    target,
    kind: "client",
    pid: process.pid,
    command: null,
    cwd: null,
    environment: {},
    ephemeral: false,
    vendor: null,
    fresh: false,
  });
  await client.call("release", { run, generation, token });
}
