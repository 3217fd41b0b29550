import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { connectToDaemon, type Client } from "../../src/client/connect.ts";
import { GIT_WALK_MS } from "../../src/limits/index.ts";
import { isPerdureError } from "../../src/protocol/errors.ts";
import { isErrno } from "../../src/state/files.ts";
import { campaign, seeded } from "../support/campaign.ts";
import { check, eventually, percentile, pick, within } from "../support/check.ts";
import { finish, type Finished, type Home } from "../support/home.ts";
import { inHome } from "../support/in-home.ts";
import { InstalledPersona } from "../support/persona.ts";
import { sendParams } from "../support/send-params.ts";
import { newestRunFolder, placesOfRun, PLACES, writeBeside, type Place, type Scene } from "./26-places.ts";
import { LARGEST, leftovers, THINGS, type Thing } from "./26-things.ts";
import { killDaemons } from "./support/daemons.ts";

interface Size {
  attempts: number;
  runs: number;
  /** Plain commands, to know what a healthy client waits while the machine does as much. */
  plain: number;
  /** Attempts with nothing put anywhere, before the others, to know how the daemon grows by as much mail and as many commands. */
  floor: number;
}

/** A command that takes so many times longer than the longest plain one waits for something that will not come. */
const HANG_FACTOR = 5;
const HANG_MS_MIN = 3_000;
/** The bound as long as no plain command has shown what is long on this machine. */
const HANG_MS_FIRST = 30_000;
const MEBIBYTE = 1024 * 1024;
/**
 * The daemon's growth is counted from where as much mail beside plain files has brought it: V8 and SQLite take their room by
 * then, files or no files. After a forced collection its heap is what it was after the start.
 */
const RSS_GROWTH_BYTES_MAX = 20 * MEBIBYTE;
/** Git takes far less to find that there is nothing to read. */
const GIT_RSS_MIB_MAX = 64;
/** A reader without a bound would read so much of a stream: enough to tell, and no more than a machine has. */
const STREAM_BYTES = 64 * MEBIBYTE;
const BOUNDED_READ = join(import.meta.dirname, "support/bounded-read-process.ts");
const P99_MS_MAX = 50;
const HEALTHY_EVERY_MS = 4;
/** How many times longer than beside plain commands a healthy client may wait where that is more than the bound. */
const FLOOR_FACTOR = 3;

export const notFiles = campaign<Size>({
  number: 26,
  promise: "files that are not files",
  reduced: { attempts: 40, runs: 2, plain: 5, floor: 5 },
  full: { attempts: 500, runs: 40, plain: 40, floor: 500 },
  run: (size, seed) => inHome((home) => play(home, size, seed)),
});

async function play(home: Home, size: Size, seed: number): Promise<Record<string, number>> {
  await checkBounds(home);
  const attack = new Attack(home, await sceneOf(home), seeded(seed));
  try {
    return await attack.play(size);
  } catch (violation) {
    // A daemon that waits for a fifo, now or when it is started again, would hold up the clearing of the home.
    attack.stop();
    await killDaemons(home);
    rmSync(home.state, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
    throw violation;
  }
}

/** Workers that were in a conversation, one per persona, and another project beside. */
async function sceneOf(home: Home): Promise<Scene> {
  await home.perdure(["run", "coder", "--", "true"]);
  const personas = (["claude", "codex"] as const).map((vendor) => new InstalledPersona(home, vendor));
  const transcripts = new Map(await Promise.all(personas.map((persona) => rememberedBy(persona))));
  const { stdout } = await home.perdure(["context", "path", "--absolute"]);
  return { home, personas, transcripts, anchor: stdout.trim() };
}

async function rememberedBy(persona: InstalledPersona): Promise<[worker: string, transcript: string]> {
  const name = `with-${persona.facts.vendor}`;
  const talk = await persona.begin(name);
  await talk.say("something to remember");
  const id = (await persona.untilProved(name)).session?.id ?? "";
  await talk.end();
  return [name, persona.transcript(id) ?? ""];
}

class Attack {
  readonly #home: Home;
  readonly #scene: Scene;
  readonly #random: () => number;
  readonly #placed: { path: string; aside: string | null; beside: string[] }[] = [];
  #isStopped = false;
  /** The time that counts as a hang, by what the longest plain command took. */
  #hangMs = HANG_MS_FIRST;
  #commandRssBytes = 0;
  #plainRssBytes = 0;

  constructor(home: Home, scene: Scene, random: () => number) {
    this.#home = home;
    this.#scene = scene;
    this.#random = random;
  }

  async play({ attempts, runs, plain, floor: plainAttempts }: Size): Promise<Record<string, number>> {
    const healthy = new Healthy(this.#home, await connectToDaemon({ env: this.#home.env }));
    const { pid, rssBytes } = await healthy.client.call("status", {});
    const floor = await healthy.during(async () => {
      await this.#plainCommands(plain);
      for (let n = 0; n < plainAttempts; n++) await this.#attempt(n, healthy.client, false);
    }, HANG_MS_FIRST);
    const floorBytesMax = healthy.rssBytesMax;
    const under = await healthy.during(async () => {
      for (let n = 0; n < attempts; n++) await this.#attempt(n, healthy.client, true);
      for (let n = 0; n < runs; n++) await this.#runFolder(n);
    }, this.#hangMs);
    const now = await healthy.client.call("status", {});
    check(now.pid === pid, `the daemon is another one now: ${now.pid}, not ${pid}`);
    const grown = healthy.rssBytesMax - floorBytesMax;
    check(grown < RSS_GROWTH_BYTES_MAX, `the daemon grew by ${Math.round(grown / MEBIBYTE)} MiB`);
    const commandGrown = this.#commandRssBytes - this.#plainRssBytes;
    const [p99, floorP99] = [percentile(under, 0.99), percentile(floor, 0.99)];
    const bound = Math.max(P99_MS_MAX, FLOOR_FACTOR * floorP99);
    check(p99 < bound, `another project waited ${p99} ms (p99); beside plain commands it waits ${floorP99} ms`);
    healthy.client.close();
    return {
      attempts: attempts + runs,
      places: PLACES.length + placesOfRun(this.#home).length,
      things: THINGS.length,
      hangs: 0,
      rssGrownMiB: Math.round(grown / MEBIBYTE),
      rssGrownMiBByAsMuchMail: Math.round((floorBytesMax - rssBytes) / MEBIBYTE),
      commandRssGrownMiB: Math.round(commandGrown / MEBIBYTE),
      healthyCalls: under.length,
      healthyMsMedian: percentile(under, 0.5),
      healthyMsP99: p99,
      healthyMsP99BesidePlainCommands: floorP99,
    };
  }

  async #plainCommands(count: number): Promise<void> {
    const commands = [["ls"], ["send", "coder", "hi"], ["drill"], ["doctor"], ["run", "coder", "--", "true"]];
    const tookMs: number[] = [];
    for (let n = 0; n < count; n++) {
      const startedAt = performance.now();
      await this.#command(commands[n % commands.length] ?? [], "nothing in the way");
      tookMs.push(performance.now() - startedAt);
    }
    this.#hangMs = Math.max(HANG_MS_MIN, Math.round(HANG_FACTOR * Math.max(...tookMs)));
    this.#plainRssBytes = this.#commandRssBytes;
    this.#commandRssBytes = 0;
  }

  /** The largest file comes first, to be read by every command; then there is a fifo in each place, then anything. */
  #choice(n: number): { place: Place; thing: Thing } {
    const place = PLACES[n === 0 ? 0 : (n - 1) % PLACES.length];
    const thing = n === 0 ? LARGEST : n <= PLACES.length ? (place?.first ?? THINGS[0]) : pick(this.#random, THINGS);
    if (place === undefined || thing === undefined) throw new Error("there is nothing to put anywhere");
    return { place, thing };
  }

  /** Puts one thing in one place, or leaves it as it is, and has one command come upon it. */
  async #attempt(n: number, client: Client, strange: boolean): Promise<void> {
    const { place, thing } = this.#choice(n);
    const what = strange ? `${place.what} is ${thing.what}` : `${place.what} is as it should be`;
    const path = place.path(this.#scene);
    if (strange) await this.#put(place, thing, path);
    try {
      check(!this.#isStopped, "another promise was broken meanwhile");
      await this.#command(pick(this.#random, place.commands(this.#scene, path)), what);
      if (place.asksGit === true) await this.#gitEnds(what);
      if (place.call && this.#random() < 0.3)
        await refusedOrServed(what, place.call(client, this.#scene), this.#hangMs);
    } finally {
      this.#clear();
    }
  }

  /** The git that the daemon has started in the background ends soon, and takes little. */
  async #gitEnds(what: string): Promise<void> {
    const daemon = this.#home.daemonPid() ?? 0;
    await eventually(
      `the end of git: ${what}`,
      () => {
        const children = childrenOf(daemon);
        const grown = Math.max(0, ...children.map((pid) => kilobytes(pid, "VmHWM"))) / 1024;
        check(grown < GIT_RSS_MIB_MAX, () => `git grew to ${Math.round(grown)} MiB: ${what}`);
        return children.length === 0;
      },
      // The bound on git itself, on a machine that has other things to do.
      Math.max(this.#hangMs, 2 * GIT_WALK_MS),
    );
  }

  async #put(place: Place, thing: Thing, path: string): Promise<void> {
    const beside = Object.keys(place.beside?.(this.#scene) ?? {});
    writeBeside(place.beside?.(this.#scene) ?? {});
    mkdirSync(dirname(path), { recursive: true });
    const aside = existsSync(path) ? `${path}.aside` : null;
    if (aside !== null) renameSync(path, aside);
    this.#placed.push({ path, aside, beside });
    await thing.make(path);
  }

  /** Ends the attack and leaves nothing of it behind. */
  stop(): void {
    this.#isStopped = true;
    this.#clear();
  }

  /** Takes everything out of the way again. */
  #clear(): void {
    for (const { path, aside, beside } of this.#placed.splice(0)) {
      const made = [
        path,
        ...leftovers(path),
        ...beside,
        join(this.#home.project, ".git"),
        join(this.#home.project, "rec"),
      ];
      // The daemon may be writing a record there at this moment.
      for (const file of made) rmSync(file, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
      if (aside !== null) renameSync(aside, path);
    }
  }

  /** A live agent puts things in its own run's folder, and is killed: the daemon finds them all, and the end. */
  async #runFolder(n: number): Promise<void> {
    const name = `live-${n}`;
    check(!this.#isStopped, "another promise was broken meanwhile");
    const { child, worker } = await this.#home.start(name, ["sleep", "600"]);
    const run = worker.run?.id ?? "";
    const folder = newestRunFolder(this.#home, run);
    for (const file of placesOfRun(this.#home)) {
      const thing = n === 0 ? THINGS[0] : pick(this.#random, THINGS);
      rmSync(join(folder, file), { recursive: true, force: true });
      await thing?.make(join(folder, file));
    }
    await this.#command(["logs", name], `the folder of ${run} holds ${n === 0 ? "fifos" : "anything"}`);
    const closed = finish(child);
    this.#home.killRun(run);
    await closed;
    await eventually(`the end of ${run}`, () => this.#isOver(name), this.#hangMs);
  }

  async #isOver(name: string): Promise<boolean> {
    const { workers } = await this.#home.json<{ workers: { name: string; run: unknown }[] }>(["ls"]);
    return workers.some((worker) => worker.name === name && worker.run === null);
  }

  /** Runs a command to its end: one that hangs, or ends with an error of ours, is a violation. */
  async #command(args: string[], what: string): Promise<Finished> {
    const child = this.#home.spawn(args, { timeout: this.#hangMs, killSignal: "SIGKILL", detached: true });
    const ended = finish(child);
    const sampling = new AbortController();
    const peak = peakRss(child.pid ?? 0, sampling.signal);
    const finished = await ended.finally(() => sampling.abort());
    this.#commandRssBytes = Math.max(this.#commandRssBytes, await peak);
    check(finished.code >= 0, () => `perdure ${args.join(" ")} hangs: ${what}`);
    const grown = this.#plainRssBytes === 0 ? 0 : this.#commandRssBytes - this.#plainRssBytes;
    check(grown < RSS_GROWTH_BYTES_MAX, () => `perdure ${args.join(" ")} grew by ${grown / MEBIBYTE} MiB: ${what}`);
    check(finished.code !== 1, () => `perdure ${args.join(" ")} ended with 1: ${what}: ${finished.stderr}`);
    return finished;
  }
}

/** A file that says that it is too long is not read at all; what does not say so is not read on. */
async function checkBounds(home: Home): Promise<void> {
  const file = join(home.dir, "too-long");
  await LARGEST.make(file);
  const script = `head -c ${STREAM_BYTES} /dev/zero | "$0" "$1" "$2" ${MEBIBYTE}`;
  const args = ["-c", script, process.execPath, BOUNDED_READ, file];
  const { stdout } = await promisify(execFile)("/bin/sh", args, { timeout: HANG_MS_FIRST });
  rmSync(file);
  const { refused, ofFile, ofStream } = JSON.parse(stdout) as { refused: boolean; ofFile: number; ofStream: number };
  check(refused, `what is too long was read: ${stdout}`);
  check(ofFile < MEBIBYTE / 2, `${ofFile} bytes were read of a file that says that it is too long`);
  check(ofStream < 2 * MEBIBYTE, `${ofStream} bytes were read where ${MEBIBYTE} are allowed`);
}

async function refusedOrServed(what: string, call: Promise<unknown>, hangMs: number): Promise<void> {
  try {
    await within(`an answer of the daemon: ${what}`, call, hangMs);
  } catch (error) {
    check(isPerdureError(error) && error.code !== "internal", () => `${what}: ${String(error)}`);
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch (error) {
    if (isErrno(error, "ENOENT", "ESRCH")) return [];
    throw error;
  }
}

/** The most memory that a process had, as the kernel counts it, as long as it can be asked. */
async function peakRss(pid: number, over: AbortSignal): Promise<number> {
  let peak = 0;
  while (!over.aborted) {
    peak = Math.max(peak, kilobytes(pid, "VmHWM") * 1024);
    await setTimeout(5, undefined, { signal: over }).catch(() => undefined);
  }
  return peak;
}

function kilobytes(pid: number, field: string): number {
  try {
    return Number(
      new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0,
    );
  } catch (error) {
    if (isErrno(error, "ENOENT", "ESRCH")) return 0;
    throw error;
  }
}

/** Somebody in another project, who goes on working all the while. */
class Healthy {
  readonly client: Client;
  rssBytesMax = 0;
  readonly #here;
  #calls = 0;

  constructor(home: Home, client: Client) {
    this.client = client;
    const other = join(home.dir, "web");
    mkdirSync(other);
    this.#here = { project: other, ref: { identity: other, root: other, base: "web" } };
  }

  /** Calls until the work is over; returns what each call took. */
  async during(work: () => Promise<void>, hangMs: number): Promise<number[]> {
    const tookMs: number[] = [];
    await this.client.call("send", this.#message());
    const ended = work().then(() => true);
    const pause = (): Promise<boolean> => setTimeout(HEALTHY_EVERY_MS, false);
    while (!(await Promise.race([ended, pause()]))) {
      const startedAt = performance.now();
      await within("an answer to another project", this.#call(), hangMs);
      tookMs.push(performance.now() - startedAt);
    }
    return tookMs;
  }

  async #call(): Promise<void> {
    if (this.#calls++ % 3 === 0) {
      const { rssBytes } = await this.client.call("status", {});
      this.rssBytesMax = Math.max(this.rssBytesMax, rssBytes);
    } else if (this.#calls % 3 === 1) await this.client.call("send", this.#message());
    else await this.client.collect("ls", { here: this.#here.ref, project: null, all: false });
  }

  #message(): ReturnType<typeof sendParams> {
    return sendParams(this.#here, "operator", "still here");
  }
}
