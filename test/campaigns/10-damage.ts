import {
  existsSync,
  globSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { connectToDaemon } from "../../src/client/connect.ts";
import { processTable } from "../../src/runtime/process/index.ts";
import { campaign, seeded } from "../support/campaign.ts";
import type { Home } from "../support/home.ts";
import { check, eventually, whole } from "../support/check.ts";
import { sendParams } from "../support/send-params.ts";
import { inHome } from "../support/in-home.ts";

interface Size {
  messages: number;
  harms: number;
}

/** The files to damage, and in which of the two stores: one that was closed well, and one whose daemon was killed. */
const PLACES = [
  { file: "perdure.db", store: "closed" },
  { file: "perdure.db", store: "killed" },
  { file: "perdure.db-wal", store: "killed" },
  { file: "custody", store: "closed" },
] as const;

export const damage = campaign<Size>({
  number: 10,
  promise: "damage stops, never shrinks in silence",
  reduced: { messages: 60, harms: 12 },
  full: { messages: 400, harms: 1_000 },
  run: (size, seed) => inHome((home) => play(home, size, seed)),
});

interface Figures extends Record<string, number> {
  harms: number;
  flips: number;
  cuts: number;
  unharmed: number;
  told: number;
  changedInSilence: number;
}

async function play(home: Home, { messages, harms }: Size, seed: number): Promise<Figures> {
  const random = seeded(seed);
  const intact = await furnish(home, messages);
  const figures: Figures = { harms: 0, flips: 0, cuts: 0, unharmed: 0, told: 0, changedInSilence: 0 };
  for (let n = 0; n < harms; n++) {
    const place = PLACES[n % PLACES.length] ?? PLACES[0];
    rmSync(home.state, { recursive: true, force: true });
    copyFolder(join(home.dir, place.store), home.state);
    const file = place.file === "custody" ? (copies(home)[0] ?? "") : join(home.state, place.file);
    const how = harm(file, random);
    figures.harms++;
    figures[how.kind]++;
    const outcome = await outcomeOf(home, intact, place.file === "custody");
    check(
      outcome !== "changed",
      () => `${place.file} of the ${place.store} store, ${how.what}: it told another story in silence`,
    );
    figures[outcome]++;
    await home.perdure(["daemon", "stop"]);
  }
  return figures;
}

interface Whole {
  names: string[];
  mail: string[];
}

/** Workers, mail and a conversation with a copy; once closed well, once with everything still in the log. */
async function furnish(home: Home, messages: number): Promise<Whole> {
  const scripted = ["--vendor", "scripted", "--", "-p", "the secret"];
  await home.perdure(["run", "talker", ...scripted]);
  await eventually("a copy", () => copies(home).length === 1);
  for (const name of ["coder", "planner"]) await home.perdure(["run", name, "--", "true"]);
  await fill(home, 0, messages / 2);
  await home.perdure(["daemon", "stop"]);
  await fill(home, messages / 2, messages);
  const story = await storyOf(home);
  check(story !== null && story.mail.length === messages, () => `not furnished: ${JSON.stringify(story)}`);
  const pid = home.daemonPid();
  if (pid !== null) process.kill(pid, "SIGKILL");
  await eventually("its end", () => pid === null || processTable().inspect(pid) === null);
  copyFolder(home.state, join(home.dir, "killed"));
  await storyOf(home);
  await home.perdure(["daemon", "stop"]);
  copyFolder(home.state, join(home.dir, "closed"));
  return story;
}

async function fill(home: Home, from: number, to: number): Promise<void> {
  const client = await connectToDaemon({ env: home.env });
  for (let n = from; n < to; n++) {
    const reader = n % 3 === 0 ? "planner" : "coder";
    await client.call("send", sendParams(home, reader, `message ${n} ${"x".repeat(n % 90)}`, { id: `m-${n}` }));
  }
  client.close();
}

/** One bit, or everything from somewhere on. */
function harm(file: string, random: () => number): { kind: "flips" | "cuts"; what: string } {
  const { size } = statSync(file);
  const at = whole(random, size);
  if (random() < 0.8) {
    const bytes = readFileSync(file);
    bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << whole(random, 8)), at);
    writeFileSync(file, bytes);
    return { kind: "flips", what: `a bit of byte ${at} of ${size}` };
  }
  truncateSync(file, at);
  return { kind: "cuts", what: `cut at ${at} of ${size}` };
}

/** Everything as it was, or somebody says that something is damaged; anything else is a story of its own. */
async function outcomeOf(home: Home, before: Whole, copyHarmed: boolean): Promise<"unharmed" | "told" | "changed"> {
  if (copyHarmed) return copyOutcome(home);
  const story = await storyOf(home);
  const doctor = await home.perdure(["doctor", "--json"]);
  const told = story === null || doctor.code !== 0;
  if (told) {
    const aside = readdirSync(home.state).some((name) => name.includes(".damaged-"));
    return aside || /damaged|integrity|malformed/.test(doctor.stdout) ? "told" : "changed";
  }
  return JSON.stringify(story) === JSON.stringify(before) ? "unharmed" : "changed";
}

/** The conversation is lost: either its copy is whole and comes back, or it is refused. */
async function copyOutcome(home: Home): Promise<"unharmed" | "told" | "changed"> {
  const transcripts = globSync(".local/share/perdure-scripted/sessions/*.jsonl", { cwd: home.dir });
  const file = join(home.dir, transcripts[0] ?? "");
  const before = readFileSync(file);
  rmSync(file);
  const { code, stderr } = await home.perdure(["run", "talker"]);
  const back = existsSync(file) && readFileSync(file).subarray(0, before.length).equals(before);
  writeFileSync(file, before);
  if (code === 5 && stderr.includes("is gone")) return "told";
  return code === 0 && back ? "unharmed" : "changed";
}

/** Names and mail as anybody would be told; null when it is not told because of damage. */
async function storyOf(home: Home): Promise<Whole | null> {
  const ls = await home.perdure(["ls", "--json"]);
  const boxes = await Promise.all(
    ["coder", "planner"].map((name) => home.perdure(["inbox", name, "--limit", "20000", "--json"])),
  );
  if ([ls, ...boxes].some(({ code }) => code !== 0)) return null;
  const { workers } = JSON.parse(ls.stdout) as { workers: { name: string }[] };
  const mail = boxes.flatMap(
    ({ stdout }) => (JSON.parse(stdout) as { messages: { id: string; body: string }[] }).messages,
  );
  return { names: workers.map(({ name }) => name), mail: mail.map(({ id, body }) => `${id} ${body}`) };
}

/** Copies a state folder with modes and times, without its sockets. */
function copyFolder(from: string, to: string): void {
  execFileSync("cp", ["-a", from, to]);
  rmSync(join(to, "perdure.sock"), { force: true });
}

function copies(home: Home): string[] {
  return globSync("custody/*/transcript", { cwd: home.state }).map((path) => join(home.state, path));
}
