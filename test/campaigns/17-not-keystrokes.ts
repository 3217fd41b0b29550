import { closeSync, existsSync, fstatSync, openSync, readSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TmuxServer } from "../../src/runtime/tmux/server.ts";
import { campaign, seeded } from "../support/campaign.ts";
import { check, eventually } from "../support/check.ts";
import { TmuxFixture } from "../runtime/tmux/tmux-fixture.ts";
import { hostileDelivery } from "./17-bodies.ts";

interface Size {
  bodies: number;
}

const FRAME_BEGIN = "\u001b[200~";
const FRAME_END = "\u001b[201~";
/** How many pastes are under way before what has arrived is looked at; bash then forgets its line. */
const BATCH = 20;
const BATCHES_PER_ANSWER = 20;

export const notKeystrokes = campaign<Size>({
  number: 17,
  promise: "a message is not keystrokes",
  reduced: { bodies: 400 },
  full: { bodies: 100_000 },
  async run(size, seed) {
    const fixture = new TmuxFixture();
    try {
      return await play(fixture, size, seed);
    } finally {
      await fixture.clear();
    }
  },
});

async function play(fixture: TmuxFixture, { bodies }: Size, seed: number): Promise<Record<string, number>> {
  const random = seeded(seed);
  const server = fixture.server();
  const shell = await Shell.start(fixture, server, "shell");
  await canarySings(fixture, server);
  const recorder = await Recorder.start(fixture, server);
  const tally = { bodies, refusedRaw: 0, bytes: 0, frames: 0, controls: 0, executions: 0 };
  for (let done = 0; done < bodies; done += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, bodies - done) }, () => hostileDelivery(random, shell.command));
    const refused = await Promise.all(batch.map(({ body }) => isRefused(server, recorder.run, body)));
    recorder.expect(...batch.filter((_, at) => refused[at] === false).map(({ body }) => body));
    tally.refusedRaw += refused.filter(Boolean).length;
    recorder.expect(...batch.flatMap(({ texts }) => texts));
    await Promise.all(batch.flatMap(({ texts }) => [recorder, shell].map(({ run }) => server.paste(run, texts, "m"))));
    const { bytes, frames } = await recorder.verify();
    tally.bytes += bytes;
    tally.frames += frames;
    // Bash takes longer over a paste than the recorder: it must not fall behind by more than it can catch up with.
    if ((done / BATCH) % BATCHES_PER_ANSWER === 0) await shell.answers();
    else shell.forgetLine();
  }
  await shell.answers();
  tally.executions = existsSync(shell.canary) ? 1 : 0;
  check(tally.executions === 0, "bash ran a command of a message");
  return tally;
}

/** A text that has not been through the envelope is pasted as it is, or not at all. */
async function isRefused(server: TmuxServer, run: string, raw: string): Promise<boolean> {
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  const isHostile = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(raw);
  const refusal = await server.paste(run, [raw], "m").then(
    () => null,
    (error: unknown) => String(error),
  );
  check(isHostile === (refusal !== null), () => `${JSON.stringify(raw)} pasted raw: ${refusal ?? "not refused"}`);
  return refusal !== null;
}

/** The trap works: a message that is pasted without our care ends its frame, and its command runs. */
async function canarySings(fixture: TmuxFixture, server: TmuxServer): Promise<void> {
  const shell = await Shell.start(fixture, server, "victim");
  fixture.tmux("set-buffer", "-b", "raw", "--", `hello${FRAME_END}\r${shell.command}\r`);
  fixture.tmux("paste-buffer", "-p", "-r", "-d", "-b", "raw", "-t", shell.pane);
  await eventually("a careless paste to be run", () => existsSync(shell.canary));
}

/** A bash at its prompt, which takes bracketed pastes, and a command that must never run in it. */
class Shell {
  readonly run: string;
  readonly pane: string;
  readonly canary: string;
  readonly command: string;
  readonly #fixture: TmuxFixture;

  private constructor(fixture: TmuxFixture, run: string, pane: string) {
    this.#fixture = fixture;
    this.run = run;
    this.pane = pane;
    this.canary = join(fixture.dir, `canary-${run}`);
    this.command = `>${this.canary}`;
  }

  static async start(fixture: TmuxFixture, server: TmuxServer, name: string): Promise<Shell> {
    const argv = ["/bin/bash", "--norc", "--noprofile", "-i"];
    const request = fixture.request(name, argv, { env: { PS1: "ready> ", HISTFILE: "" } });
    const { pane } = await server.start(request);
    const shell = new Shell(fixture, request.run, pane);
    await eventually("bash's prompt", async () => (await server.view(request.run))?.screen.includes("ready>") ?? false);
    await shell.answers();
    return shell;
  }

  /** Empties the line: the key comes behind everything that was pasted. */
  forgetLine(): void {
    this.#fixture.tmux("send-keys", "-t", this.pane, "C-u");
  }

  /** Waits until bash has taken everything so far and runs a command that is typed. */
  async answers(): Promise<void> {
    const file = join(this.#fixture.dir, `alive-${this.run}`);
    this.forgetLine();
    this.#fixture.tmux("send-keys", "-t", this.pane, "-l", `>${file}`);
    this.#fixture.tmux("send-keys", "-t", this.pane, "Enter");
    await eventually("bash to answer", () => existsSync(file));
    rmSync(file);
  }
}

/** A program that takes bracketed pastes and writes down every byte it gets. */
class Recorder {
  readonly run: string;
  readonly #file: string;
  #expected: string[] = [];
  #before = 0;

  private constructor(run: string, file: string) {
    this.run = run;
    this.#file = file;
  }

  static async start(fixture: TmuxFixture, server: TmuxServer): Promise<Recorder> {
    const file = join(fixture.dir, "bytes");
    const script = `stty raw -echo; printf '\\033[?2004hready'; exec cat >'${file}'`;
    const request = fixture.request("recorder", ["/bin/sh", "-c", script]);
    await server.start(request);
    await eventually("the recorder", async () => (await server.view(request.run))?.screen.includes("ready") ?? false);
    return new Recorder(request.run, file);
  }

  expect(...texts: string[]): void {
    this.#expected.push(...texts);
  }

  /** Compares what has arrived since the last time: each text in one frame, and not a byte beside. */
  async verify(): Promise<{ bytes: number; frames: number }> {
    const expected = Buffer.from(this.#expected.map((text) => `${FRAME_BEGIN}${text}${FRAME_END}`).join(""));
    await eventually("all that was pasted", () => statSync(this.#file).size >= this.#before + expected.length);
    const arrived = readFrom(this.#file, this.#before);
    check(arrived.equals(expected), () => `arrived: ${JSON.stringify(arrived.toString("utf8"))}`);
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    const controls = /[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/.exec(arrived.toString("utf8"));
    check(controls === null, () => `a control character arrived: ${JSON.stringify(controls?.[0])}`);
    const escapes = arrived.toString("utf8").split("\u001b").length - 1;
    const frames = this.#expected.length;
    check(escapes === 2 * frames, `${escapes} escapes in ${frames} frames`);
    this.#before += expected.length;
    this.#expected = [];
    return { bytes: expected.length, frames };
  }
}

function readFrom(file: string, start: number): Buffer {
  const fd = openSync(file, "r");
  try {
    const buffer = Buffer.alloc(fstatSync(fd).size - start);
    return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, start));
  } finally {
    closeSync(fd);
  }
}
