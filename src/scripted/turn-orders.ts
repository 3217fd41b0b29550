import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { HOLD_LOOK_MS } from "../limits/index.ts";
import { printError, printJson } from "./print.ts";

/** The words in a prompt with which tests make a turn go badly, or slowly: `[[sleep 500]] [[kill]]`. */
const ORDER = /\[\[([a-z-]+)(?: ([^\]]*))?\]\]/g;

/** The things that a turn does before the agent answers; only for tests of what becomes of such turns. */
export interface TurnOrders {
  /** Before the prompt is in the transcript. */
  beforeTurn(prompt: string): Promise<void>;
  /** Before the answer; returns what is said in its place, null for the usual answer. */
  beforeAnswer(prompt: string): Promise<string | null>;
}

export const TURN_ORDERS: TurnOrders = {
  async beforeTurn(prompt) {
    for (const [word, argument] of ordersIn(prompt)) {
      if (word === "kill-first") await killed();
      if (word === "sleep-first") await sleep(Number(argument));
    }
  },
  async beforeAnswer(prompt) {
    let answer: string | null = null;
    for (const [word, argument] of ordersIn(prompt)) {
      if (word === "sleep") await sleep(Number(argument));
      if (word === "hold") await thereIs(argument);
      if (word === "kill") await killed();
      if (word === "tool") printJson({ type: "tool", name: argument });
      if (word === "pass") await pass(argument);
      if (word === "say") answer = argument;
      if (word === "say-nothing") answer = "";
      if (word === "say-half") answer = "half \ud83d";
      if (word === "login") leave("Not logged in. Please log in and start again.");
      if (word === "limit") leave("Usage limit reached. It resets tomorrow.");
      if (word === "fail") leave(argument);
    }
    return answer;
  },
};

function ordersIn(prompt: string): [word: string, argument: string][] {
  return [...prompt.matchAll(ORDER)].map(([, word = "", argument = ""]) => [word, argument]);
}

/** Waits until somebody has made the file: `[[hold FILE]]`. */
async function thereIs(file: string): Promise<void> {
  while (!existsSync(file)) await sleep(HOLD_LOOK_MS);
}

/** Writes the same order to another worker, as the agent's own shell would: `[[pass NAME PERDURE]]`. */
async function pass(argument: string): Promise<void> {
  const [to = "", perdure = ""] = argument.split(" ");
  const { spawn } = process.getBuiltinModule("node:child_process"); // 5 ms of every start otherwise
  const order = `[[pass ${process.env.PERDURE_NAME} ${perdure}]]`;
  const child = spawn(perdure, ["send", to, `go on ${order}`], { stdio: "ignore" });
  await new Promise<void>((resolve) => child.on("close", () => resolve()).on("error", () => resolve()));
}

async function killed(): Promise<void> {
  process.kill(process.pid, "SIGKILL");
  await sleep(60_000);
}

function leave(why: string): never {
  printError(why);
  process.exit(1);
}
