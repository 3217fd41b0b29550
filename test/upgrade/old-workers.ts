import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { WorkerDetail } from "../../src/protocol/records/worker.ts";
import { readBanner } from "../support/persona.ts";
import { eventually } from "../support/check.ts";
import type { Talk } from "../support/talk.ts";
import { finish, type Finished } from "../support/home.ts";
import { LibraryClient, type ClientLease } from "./library-client.ts";
import { UpgradeHome } from "./upgrade-home.ts";

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

/** The state that 0.1 gives a worker that waits for a person; typed as a string, because this version has another word. */
const ON_HOLD_BEFORE: string = "held";

/** The workers that the old version has started, with handles to those that still run. */
export interface OldWorkers {
  home: UpgradeHome;
  /** Agents and a shell that run in the foreground, each over a pipe. */
  talks: Record<"speaker" | "claudius" | "codette" | "shell", Talk>;
  guest: { client: LibraryClient; lease: ClientLease };
  /** Another client, which a test displaces. */
  lodger: { client: LibraryClient; lease: ClientLease };
  /** An `ask` of the old command line, which waits for its answer. */
  asking: Promise<Finished>;
  /** The program of the worker leaver, which exits with 6 once `endLeaver` is called. */
  leaving: Promise<Finished>;
  endLeaver(): void;
}

/** Every worker except leaver, which ends between the two daemons. */
export const WORKERS = listOf(`coder planner waiter looper speaker claudius codette shell builder
  sleeper twin artist reader napper guest lodger`);

/** The workers that are in a conversation. */
const IN_A_CONVERSATION = listOf("coder planner waiter speaker claudius codette sleeper");

/** Starts the workers with the old version alone, and waits until everything about them is stored. */
export async function startOldWorkers(home: UpgradeHome): Promise<OldWorkers> {
  await home.perdure(["daemon", "start"]);
  const [, guest, lodger, speaker, claudius, codette] = await Promise.all([
    bringFleetUp(home),
    LibraryClient.start(home, "guest"),
    LibraryClient.start(home, "lodger"),
    startTalk(home, "speaker", ["--vendor", "scripted"]),
    startTalk(home, "claudius", ["--", "claude"]),
    startTalk(home, "codette", ["--", "codex"]),
    rotateAndLeave(home),
    runOnce(home, "painter", "reader", "napper", "mortal"),
  ]);
  const shell = home.talk("shell", ["--", "sh"]);
  await home.start("builder", ["sh", "-c", "trap 'kill $!; exit 7' TERM; sleep 600 & wait"]);
  const { child } = await home.start("leaver", ["sh", "-c", "while [ ! -e go ]; do sleep 0.02; done; exit 6"]);
  await home.until("shell", ({ run }) => run !== null);
  await perdureJson(home, ["fork", "sleeper", "twin"]);
  await perdureJson(home, ["rename", "painter", "artist"]);
  await perdureJson(home, ["pause", "napper"]);
  await perdureJson(home, ["save", "friday"]);
  const { asking } = await sendMail(home, guest);
  await untilSettled(home);
  return {
    home,
    talks: { speaker, claudius, codette, shell },
    guest,
    lodger,
    asking,
    leaving: finish(child),
    endLeaver: () => writeFileSync(join(home.project, "go"), ""),
  };
}

/** Splits a text into words: such a list is easier to read without quotes. */
export function listOf(text: string): string[] {
  return text.split(/\s+/);
}

export function newUpgradeHome(): UpgradeHome {
  return new UpgradeHome(FLEET, { PERDURE_RESTART_WAIT_MS: "20" });
}

/** Runs a command that must succeed, and returns its JSON document. */
export async function perdureJson<T>(home: UpgradeHome, args: string[]): Promise<T> {
  const { code, stdout, stderr } = await home.perdure([...args, "--json"]);
  if (code !== 0) throw new Error(`perdure ${args.join(" ")} ended with ${code}: ${stdout}${stderr}`);
  return JSON.parse(stdout) as T;
}

/** Brings up the fleet: two workers that run, one that has no login, one that exits at once. */
async function bringFleetUp(home: UpgradeHome): Promise<void> {
  await home.up();
  for (const name of ["coder", "planner", "waiter"]) await home.until(name, ({ state }) => state === "idle");
  await home.say("coder", "hello coder");
  await home.say("planner", "hello planner");
  await home.say("waiter", "hello waiter");
  await home.type("waiter", "/login");
  await home.until("waiter", ({ state }) => state === ON_HOLD_BEFORE);
  await home.until("looper", ({ state }) => state === "crash-looping");
}

async function startTalk(home: UpgradeHome, name: string, words: string[]): Promise<Talk> {
  const talk = home.talk(name, words);
  readBanner(await talk.answer());
  await talk.say(`hello ${name}`);
  return talk;
}

/** Leaves a stopped worker that was in two conversations, one after the other. */
async function rotateAndLeave(home: UpgradeHome): Promise<void> {
  const talk = await startTalk(home, "sleeper", ["--vendor", "scripted"]);
  const first = await home.until("sleeper", ({ session }) => session?.proved === true);
  await talk.say("/clear");
  await home.until("sleeper", ({ session }) => session?.proved === true && session.id !== first.session?.id);
  await talk.say("goodbye");
  talk.type("/exit 4");
  await talk.ended;
}

async function runOnce(home: UpgradeHome, ...names: string[]): Promise<void> {
  for (const name of names) await home.perdure(["run", name, "--", "true"]);
}

/** Sends messages until there is one in every state. Returns the `ask` that waits for its answer. */
async function sendMail(home: UpgradeHome, guest: OldWorkers["guest"]): Promise<Pick<OldWorkers, "asking">> {
  const send = (to: string, id: string, ...more: string[]): Promise<unknown> =>
    perdureJson(home, ["send", to, `this is ${id}`, "--id", id, ...more]);
  writeFileSync(join(home.project, "plan.md"), "the plan");
  await send("sleeper", "queued-1");
  await send("sleeper", "queued-2", "--attach", "plan.md");
  await send("sleeper", "queued-3", "--ttl", "10d");
  await send("napper", "queued-4");
  await send("operator", "queued-5");
  await send("shell", "waits-for-shell");
  await send("painter", "before-rename");
  await send("reader", "read");
  await send("reader", "question", "--expects-reply");
  const perdure = join(home.installed, "bin/perdure.js");
  const script = `${perdure} inbox; ${perdure} reply question 'the answer' --id answer`;
  await home.perdure(["run", "reader", "--", "sh", "-c", script]);
  await send("mortal", "dead");
  await perdureJson(home, ["retire", "mortal"]);
  await send("sleeper", "cancelled");
  await perdureJson(home, ["cancel", "cancelled"]);
  await send("sleeper", "plan-1");
  await send("sleeper", "plan-2", "--supersedes", "plan-1");
  await send("sleeper", "expired", "--ttl", "1ms");
  await perdureJson(home, ["send", "guest", "keep this one", "--id", "kept"]);
  await perdureJson(home, ["send", "guest", "keep this too", "--id", "injected"]);
  await guest.client.until("mail", "kept");
  await guest.client.until("mail", "injected");
  await inject(home, guest.lease, "injected");
  guest.client.order({ do: "ask", to: "operator", body: "may I?", id: "ask-operator" });
  guest.client.order({ do: "ask", to: "reader", body: "are you there?", id: "ask-reader" });
  const asking = home.perdure(["ask", "reader", "is it done?", "--id", "ask-by-command"]);
  for (const id of ["ask-operator", "ask-reader", "ask-by-command"]) await untilState(home, id, "queued");
  await untilState(home, "expired", "expired");
  return { asking };
}

/** Acknowledges a message as shown to the client's agent, which only the socket can do until vendors' hooks deliver mail. */
async function inject(home: UpgradeHome, lease: ClientLease, id: string): Promise<void> {
  const { run, generation, token } = lease;
  const params = { as: { run, generation, token }, nested: false, ids: [id], how: "injected" };
  const answer = await home.call<{ acked: string[] }>("ack", params);
  if (answer?.acked[0] !== id) throw new Error(`${id} was not acknowledged`);
}

/** Waits until the message exists and is in the state. */
async function untilState(home: UpgradeHome, id: string, state: string): Promise<void> {
  await eventually(`${id} to be ${state}`, async () => {
    const found = await home.call<{ message: { state: string } }>("mail", { as: null, nested: false, id });
    return found?.message.state === state;
  });
}

/** Waits until each conversation is proved and its copy is as long as the vendor's file, so that nothing changes any more. */
async function untilSettled(home: UpgradeHome): Promise<void> {
  for (const name of IN_A_CONVERSATION) {
    let last: WorkerDetail | null = null;
    const isSettled = async (): Promise<boolean> => {
      last = await home.show(name);
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
