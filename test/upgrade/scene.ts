import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { WorkerDetail } from "../../src/protocol/records/worker.ts";
import { readBanner } from "../support/persona.ts";
import { eventually } from "../support/check.ts";
import type { Talk } from "../support/talk.ts";
import { finish, type Finished } from "../support/home.ts";
import { LibraryClient, type ClientLease } from "./client.ts";
import { UpgradeHome } from "./stage.ts";

const FLEET = `project = "api"
[defaults]
vendor = "scripted"
[workers.coder]
group = "pair"
[workers.planner]
group = "pair"
[workers.waiter]
[workers.looper]
command = ["sh", "-c", "exit 3"]
`;

/** What 0.1 calls a worker that waits for a person; a string, because this version may have another word for it. */
const HELD: string = "held";

/** All that the version before has left behind, and what of it still runs. */
export interface Scene {
  stage: UpgradeHome;
  /** Agents and a shell in the foreground, each over a pipe. */
  talks: Record<"speaker" | "claudius" | "codette" | "shell", Talk>;
  guest: { client: LibraryClient; lease: ClientLease };
  /** Another client, to be displaced. */
  lodger: { client: LibraryClient; lease: ClientLease };
  /** `perdure ask` of the version before, which waits for its answer. */
  asking: Promise<Finished>;
  /** The program of leaver, which ends with 6 as soon as `letGo` was called. */
  leaving: Promise<Finished>;
  letGo(): void;
}

/** Every worker but leaver, which is to end in between. */
export const WORKERS = listOf(`coder planner waiter looper speaker claudius codette shell builder
  sleeper twin artist reader napper guest lodger`);

/** Those that are in a conversation. */
const TALKATIVE = listOf("coder planner waiter speaker claudius codette sleeper");

/** Builds it with the version before alone, and waits until all of it is written down. */
export async function playBefore(stage: UpgradeHome): Promise<Scene> {
  await stage.perdure(["daemon", "start"]);
  const [, guest, lodger, speaker, claudius, codette] = await Promise.all([
    bringUp(stage),
    LibraryClient.start(stage, "guest"),
    LibraryClient.start(stage, "lodger"),
    begin(stage, "speaker", ["--vendor", "scripted"]),
    begin(stage, "claudius", ["--", "claude"]),
    begin(stage, "codette", ["--", "codex"]),
    rotateAndLeave(stage),
    runOnce(stage, "painter", "reader", "napper", "mortal"),
  ]);
  const shell = stage.talk("shell", ["--", "sh"]);
  await stage.start("builder", ["sh", "-c", "trap 'kill $!; exit 7' TERM; sleep 600 & wait"]);
  const { child } = await stage.start("leaver", ["sh", "-c", "while [ ! -e go ]; do sleep 0.02; done; exit 6"]);
  await stage.until("shell", ({ run }) => run !== null);
  await said(stage, ["fork", "sleeper", "twin"]);
  await said(stage, ["rename", "painter", "artist"]);
  await said(stage, ["pause", "napper"]);
  await said(stage, ["save", "friday"]);
  const { asking } = await sendMail(stage, guest);
  await settled(stage);
  return {
    stage,
    talks: { speaker, claudius, codette, shell },
    guest,
    lodger,
    asking,
    leaving: finish(child),
    letGo: () => writeFileSync(join(stage.project, "go"), ""),
  };
}

/** A list that is easier to read without its quotes. */
export function listOf(text: string): string[] {
  return text.split(/\s+/);
}

export function newStage(): UpgradeHome {
  return new UpgradeHome(FLEET, { PERDURE_RESTART_WAIT_MS: "20" });
}

/** A command that has to work; its document. */
export async function said<T>(stage: UpgradeHome, args: string[]): Promise<T> {
  const { code, stdout, stderr } = await stage.perdure([...args, "--json"]);
  if (code !== 0) throw new Error(`perdure ${args.join(" ")} ended with ${code}: ${stdout}${stderr}`);
  return JSON.parse(stdout) as T;
}

/** Two that run, one that has no login, one that falls at once. */
async function bringUp(stage: UpgradeHome): Promise<void> {
  await stage.up();
  for (const name of ["coder", "planner", "waiter"]) await stage.until(name, ({ state }) => state === "idle");
  await stage.say("coder", "hello coder");
  await stage.say("planner", "hello planner");
  await stage.say("waiter", "hello waiter");
  await stage.type("waiter", "/login");
  await stage.until("waiter", ({ state }) => state === HELD);
  await stage.until("looper", ({ state }) => state === "crash-looping");
}

async function begin(stage: UpgradeHome, name: string, words: string[]): Promise<Talk> {
  const talk = stage.talk(name, words);
  readBanner(await talk.answer());
  await talk.say(`hello ${name}`);
  return talk;
}

/** A worker that does not run, with two conversations, one after the other. */
async function rotateAndLeave(stage: UpgradeHome): Promise<void> {
  const talk = await begin(stage, "sleeper", ["--vendor", "scripted"]);
  const first = await stage.until("sleeper", ({ session }) => session?.proved === true);
  await talk.say("/clear");
  await stage.until("sleeper", ({ session }) => session?.proved === true && session.id !== first.session?.id);
  await talk.say("goodbye");
  talk.type("/exit 4");
  await talk.ended;
}

async function runOnce(stage: UpgradeHome, ...names: string[]): Promise<void> {
  for (const name of names) await stage.perdure(["run", name, "--", "true"]);
}

/** A message in every state. Returns the question that the command line waits with. */
async function sendMail(stage: UpgradeHome, guest: Scene["guest"]): Promise<Pick<Scene, "asking">> {
  const send = (to: string, id: string, ...more: string[]): Promise<unknown> =>
    said(stage, ["send", to, `this is ${id}`, "--id", id, ...more]);
  writeFileSync(join(stage.project, "plan.md"), "the plan");
  await send("sleeper", "queued-1");
  await send("sleeper", "queued-2", "--attach", "plan.md");
  await send("sleeper", "queued-3", "--ttl", "10d");
  await send("napper", "queued-4");
  await send("operator", "queued-5");
  await send("shell", "waits-for-shell");
  await send("painter", "before-rename");
  await send("reader", "read");
  await send("reader", "question", "--expects-reply");
  const perdure = join(stage.installed, "bin/perdure.js");
  const script = `${perdure} inbox; ${perdure} reply question 'the answer' --id answer`;
  await stage.perdure(["run", "reader", "--", "sh", "-c", script]);
  await send("mortal", "dead");
  await said(stage, ["retire", "mortal"]);
  await send("sleeper", "cancelled");
  await said(stage, ["cancel", "cancelled"]);
  await send("sleeper", "plan-1");
  await send("sleeper", "plan-2", "--supersedes", "plan-1");
  await send("sleeper", "expired", "--ttl", "1ms");
  await said(stage, ["send", "guest", "keep this one", "--id", "kept"]);
  await said(stage, ["send", "guest", "keep this too", "--id", "injected"]);
  await guest.client.until("mail", "kept");
  await guest.client.until("mail", "injected");
  await inject(stage, guest.lease, "injected");
  guest.client.order({ do: "ask", to: "operator", body: "may I?", id: "ask-operator" });
  guest.client.order({ do: "ask", to: "reader", body: "are you there?", id: "ask-reader" });
  const asking = stage.perdure(["ask", "reader", "is it done?", "--id", "ask-by-command"]);
  for (const id of ["ask-operator", "ask-reader", "ask-by-command"]) await untilState(stage, id, "queued");
  await untilState(stage, "expired", "expired");
  return { asking };
}

/** The client's agent has been shown it: what a vendor's hook will say one day, and only the socket can today. */
async function inject(stage: UpgradeHome, lease: ClientLease, id: string): Promise<void> {
  const { run, generation, token } = lease;
  const params = { as: { run, generation, token }, nested: false, ids: [id], how: "injected" };
  const answer = await stage.call<{ acked: string[] }>("ack", params);
  if (answer?.acked[0] !== id) throw new Error(`${id} was not acknowledged`);
}

/** A message that is in this state, and was admitted at all. */
async function untilState(stage: UpgradeHome, id: string, wanted: string): Promise<void> {
  await eventually(`${id} to be ${wanted}`, async () => {
    const found = await stage.call<{ message: { state: string } }>("mail", { as: null, nested: false, id });
    return found?.message.state === wanted;
  });
}

/** Each conversation proved, and its copy as long as what the vendor has written: nothing is under way any more. */
async function settled(stage: UpgradeHome): Promise<void> {
  for (const name of TALKATIVE) {
    let last: WorkerDetail | null = null;
    const isSettled = async (): Promise<boolean> => {
      last = await stage.show(name);
      const { conversation } = last;
      if (conversation?.proved !== true || conversation.transcript === null) return false;
      const { file, bytes } = conversation.transcript;
      return [bytes, conversation.custody?.bytes].every((each) => each === statSync(file).size);
    };
    await eventually(`${name} to be settled`, isSettled, 15_000).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${JSON.stringify(last)}`, { cause: error });
    });
  }
}
