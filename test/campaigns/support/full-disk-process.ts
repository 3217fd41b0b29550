import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { connectToDaemon, type Client } from "../../../src/client/connect.ts";
import type { ErrorBody } from "../../../src/protocol/errors.ts";
import { isErrno } from "../../../src/state/files.ts";
import { seeded } from "../../support/campaign.ts";
import type { Home } from "../../support/home.ts";
import { check, eventually, pick } from "../../support/check.ts";
import { DiskSender, type Sent } from "./disk-sender.ts";
import { inHome, targetIn } from "../../support/in-home.ts";
import { checkIntegrity, keptMail } from "./store-checks.ts";

// Run in a mount namespace: [rounds] [commandsEvery] [seed]. Prints its figures.

const DISK = "64m";
const SENDERS = 3;
const CHUNKS_BYTES = [256 * 1024, 4096, 1];

const [rounds = 1, commandsEvery = 1, seed = 1] = process.argv.slice(2).map(Number);
const figures = await inHome(async (home) => {
  mkdirSync(home.state, { recursive: true, mode: 0o700 });
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK},mode=0700`, "tmpfs", home.state]);
  try {
    return await play(home);
  } finally {
    rmSync(join(home.state, "ballast"), { force: true });
    await home.perdure(["daemon", "stop"]);
    execFileSync("umount", ["-l", home.state]);
    rmSync(home.state, { recursive: true });
  }
});
process.stdout.write(`${JSON.stringify(figures)}\n`);

async function play(home: Home): Promise<Record<string, number>> {
  const random = seeded(seed);
  await home.perdure(["run", "coder", "--", "true"]);
  const pid = home.daemonPid();
  const file = join(home.dir, "plan.md");
  writeFileSync(file, "the plan\n".repeat(1_000));
  const reader = await connectToDaemon({ env: home.env });
  const senders = Array.from({ length: SENDERS }, (_, n) => new DiskSender(home, `s${n}`, file, seeded(seed + n + 1)));
  const sending = Promise.all(senders.map((sender) => sender.send()));
  const tally = { reads: 0, commandsRefused: 0 };
  // A sender that fails ends the campaign at once, whatever is waited for here.
  const playing = (async () => {
    await served(senders, "at first");
    for (let round = 0; round < rounds; round++) {
      await fill(home, senders, round);
      tally.reads += await readWhileFull(home, reader, senders, random, round);
      if (round % commandsEvery === 0) tally.commandsRefused += await commandsWhileFull(home, senders, random, round);
      rmSync(join(home.state, "ballast"));
      await served(senders, `after round ${round}`);
    }
    for (const sender of senders) sender.finish();
  })();
  await Promise.race([sending, playing]);
  await Promise.all([sending, playing]);
  const status = await reader.call("status", {});
  check(status.pid === pid, `the daemon was another one at the end: ${status.pid}, not ${pid}`);
  reader.close();
  check(tally.commandsRefused > 0 || rounds < 20, "no command was refused");
  return { rounds, ...tally, ...checkAll(home, senders) };
}

async function served(senders: DiskSender[], when: string): Promise<void> {
  const before = senders.map((sender) => sender.acked.size);
  const all = (): boolean => senders.every((sender, n) => sender.acked.size > (before[n] ?? 0) + 3);
  await eventually(`${when}: all to be served`, all);
}

/** Fills the disk until nobody can send any more: the log's reserve is used up first. */
async function fill(home: Home, senders: DiskSender[], round: number): Promise<void> {
  const before = senders.map((sender) => sender.refused);
  const full = (): boolean => senders.every((sender, n) => sender.refused > (before[n] ?? 0) + 1);
  await eventually(`round ${round}: all to be refused`, () => {
    writeBallast(join(home.state, "ballast"));
    return full();
  });
}

function writeBallast(file: string): void {
  const fd = openSync(file, "a");
  for (const bytes of CHUNKS_BYTES) {
    try {
      for (;;) writeSync(fd, Buffer.alloc(bytes, 0x78));
    } catch (error) {
      if (!isErrno(error, "ENOSPC")) throw error;
    }
  }
  closeSync(fd);
}

/** Everything that only looks is answered, over an old connection and a new one, and shows all that was acknowledged. */
async function readWhileFull(
  home: Home,
  reader: Client,
  senders: DiskSender[],
  random: () => number,
  round: number,
): Promise<number> {
  const { here } = targetIn(home, "coder");
  const acked = senders.flatMap((sender) => [...sender.acked.keys()]);
  const box = { as: null, nested: false, here, project: null, target: targetIn(home, "coder"), all: false };
  const { items } = await reader.collect("peekMail", { ...box, limit: 20_000 });
  const seen = new Set(items.map(({ id }) => id));
  const missing = acked.find((id) => !seen.has(id));
  check(missing === undefined, `round ${round}: ${missing} was acknowledged and is not in the box of a full disk`);
  const newcomer = await connectToDaemon({ env: home.env, autostart: false });
  const { message } = await newcomer.call("showMail", { as: null, nested: false, id: pick(random, acked) });
  check(message.state === "queued", `round ${round}: ${message.id} is ${message.state}`);
  const { items: workers } = await newcomer.collect("ls", { here, project: null, all: true });
  check(workers.length === 1, `round ${round}: ls shows ${workers.length} workers`);
  newcomer.close();
  return 3;
}

async function commandsWhileFull(
  home: Home,
  senders: DiskSender[],
  random: () => number,
  round: number,
): Promise<number> {
  const looked = await home.perdure(["inbox", "coder", "--json"]);
  check(looked.code === 0, () => `round ${round}: inbox on a full disk: ${JSON.stringify(looked).slice(0, 500)}`);
  const id = `command-${round}`;
  const body = "x".repeat(40_000);
  const { code, stdout } = await home.perdure(["send", "coder", body, "--id", id, "--json"]);
  const { error } = JSON.parse(stdout) as { error?: ErrorBody };
  check(code === 0 || (code === 7 && error?.code === "disk-full"), () => `round ${round}: send: ${code}, ${stdout}`);
  // The copy of a file that was refused is cleared away meanwhile, and may make room: then it must be there at the end.
  if (code === 0) pick(random, senders).acked.set(id, { body, copy: null, sha256: null });
  else pick(random, senders).abandoned.add(id);
  return code === 0 ? 0 : 1;
}

/** Acknowledged: there, with body and file. Refused and never sent again: not there, and no file of it either. */
function checkAll(home: Home, senders: DiskSender[]): Record<string, number> {
  checkIntegrity(home.state, "at the end");
  const kept = keptMail(home.state);
  const acked = new Map(senders.flatMap((sender) => [...sender.acked]));
  for (const [id, sent] of acked) {
    check(kept.get(id) === sent.body, `${id} was acknowledged and is ${kept.has(id) ? "another" : "gone"}`);
    if (sent.copy !== null) check(sameFile(sent), `the file that was sent with ${id} is ${contentOf(sent)}`);
  }
  const abandoned = senders.flatMap((sender) => [...sender.abandoned]);
  const there = abandoned.find((id) => kept.has(id));
  check(there === undefined, `${there} was refused, and is there`);
  check(kept.size === acked.size, `${acked.size} were acknowledged, ${kept.size} are there`);
  const copies = new Set([...acked.values()].flatMap(({ copy }) => (copy === null ? [] : [basename(dirname(copy))])));
  const left = readdirSync(join(home.state, "attachments")).filter((folder) => !copies.has(folder));
  check(left.length === 0, () => `copies of refused messages were left behind: ${left.join(" ")}`);
  return {
    acked: acked.size,
    withFiles: copies.size,
    refusedDiskFull: senders.reduce((sum, sender) => sum + sender.refused, 0),
    refusedAndNotThere: abandoned.length,
    ackedLost: [...acked.keys()].filter((id) => !kept.has(id)).length,
  };
}

function sameFile({ copy, sha256 }: Sent): boolean {
  return copy !== null && existsSync(copy) && createHash("sha256").update(readFileSync(copy)).digest("hex") === sha256;
}

function contentOf({ copy }: Sent): string {
  return copy !== null && existsSync(copy) ? `of ${readFileSync(copy).length} bytes and not the same` : "gone";
}
