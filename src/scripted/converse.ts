import { own } from "../util/own.ts";
import type { Agent } from "./agent.ts";
import { Refusal } from "./persona.ts";
import { ORDERS, type Program } from "./orders.ts";

/** From the first line to the end of input, or to the order that ends it. Returns the exit code. */
export async function converse(agent: Agent, program: Program, headless: boolean): Promise<number> {
  await agent.begin();
  let heard = 0;
  while (agent.exitCode === null) {
    agent.voice.ready();
    const line = await agent.input.next();
    if (line === null) break;
    if (line.trim() === "") continue;
    heard++;
    try {
      await hear(agent, program, line.trim());
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      agent.voice.notice(error.message);
      if (headless) agent.exitCode = error.exitCode;
    }
  }
  if (headless && heard === 0) throw new Refusal("No prompt: give one as an argument or on standard input.");
  agent.voice.end(agent.view);
  await agent.leave("exit");
  return agent.exitCode ?? 0;
}

async function hear(agent: Agent, program: Program, line: string): Promise<void> {
  if (!line.startsWith("/")) return agent.prompt(line);
  const [word = "", ...rest] = line.slice(1).split(" ");
  const order = own(ORDERS, word);
  if (order === undefined) throw new Refusal(`There is no order /${word}; /help lists them.`);
  await order.run(agent, rest.join(" ").trim(), program);
}
