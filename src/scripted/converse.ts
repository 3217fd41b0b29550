import { own } from "../util/own.ts";
import type { Agent } from "./agent.ts";
import { ORDERS } from "./orders.ts";
import { PersonaRefusal, type Persona } from "./persona.ts";

/** Runs the agent from the first line to the end of input, or to the order that ends it. Returns the exit code. */
export async function converse(agent: Agent, persona: Persona, headless: boolean): Promise<number> {
  await agent.begin();
  let heard = 0;
  while (agent.exitCode === null) {
    agent.output.ready();
    const line = await agent.input.next();
    if (line === null) break;
    if (line.trim() === "") continue;
    heard++;
    try {
      await hear(agent, persona, line.trim());
    } catch (error) {
      if (!(error instanceof PersonaRefusal)) throw error;
      agent.output.notice(error.message);
      if (headless) agent.exitCode = error.exitCode;
    }
  }
  if (headless && heard === 0) throw new PersonaRefusal("No prompt: give one as an argument or on standard input.");
  agent.output.end(agent.snapshot);
  await agent.leave("exit");
  return agent.exitCode ?? 0;
}

async function hear(agent: Agent, persona: Persona, line: string): Promise<void> {
  if (!line.startsWith("/")) return agent.prompt(line);
  const [word = "", ...rest] = line.slice(1).split(" ");
  const order = own(ORDERS, word);
  if (order === undefined) throw new PersonaRefusal(`There is no order /${word}; /help lists them.`);
  await order.run(agent, rest.join(" ").trim(), persona);
}
