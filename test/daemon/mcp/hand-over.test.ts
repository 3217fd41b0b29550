import { appendFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { MailStep, MessageRecord } from "../../../src/protocol/records/mail.ts";
import { eventually } from "../../support/check.ts";
import type { InstalledPersona } from "../../support/persona.ts";
import { personaInstaller } from "../../support/persona-installer.ts";
import { identityOf, McpAgent } from "./agent.ts";

const installPersona = personaInstaller();

interface Answered {
  reply: { id: string };
  mark: string;
}

/** Has an idle agent ask the operator by its tool, and the operator answer. */
async function askOperator({ home }: InstalledPersona, run: string): Promise<Answered> {
  const agent = await McpAgent.start(home, identityOf(home, run));
  const asking = agent.result<Answered>("ask", { to: "operator", text: "may I?" });
  let question: MessageRecord | undefined;
  await eventually("the question", async () => {
    [question] = (await home.json<{ messages: MessageRecord[] }>(["inbox", "--peek"])).messages;
    return question !== undefined;
  });
  await home.perdure(["reply", question?.id ?? "", "you may"]);
  const answered = await asking;
  // It is on its way to the model, so nothing offers it a second time.
  expect(await agent.result("inbox")).toMatchObject({ messages: [] });
  await agent.close();
  return answered;
}

async function statesOf({ home }: InstalledPersona, id: string): Promise<string[]> {
  return (await home.json<{ steps: MailStep[] }>(["mail", id])).steps.map(({ state }) => state);
}

it("a reply in a tool's answer is injected once the conversation shows its mark, and not before", async () => {
  const persona = installPersona("claude");
  const talk = await persona.begin("w");
  await talk.say("one");
  const { run } = await persona.home.until("w", ({ state }) => state === "idle");
  const { reply, mark } = await askOperator(persona, run?.id ?? "");
  expect(await statesOf(persona, reply.id)).toEqual(["queued", "offered"]);
  const { sessions } = await persona.history("w");
  const file = sessions.find(({ current }) => current)?.transcript?.file ?? "";
  const content = [{ type: "tool_result", content: mark }];
  appendFileSync(file, `${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`);
  await eventually("the reply to be read", async () => (await statesOf(persona, reply.id)).at(-1) === "read");
  expect(await statesOf(persona, reply.id)).toEqual(["queued", "offered", "injected", "read"]);
});

it("a reply in a tool's answer that the conversation never showed waits for the next run", async () => {
  const persona = installPersona("claude");
  const talk = await persona.begin("w");
  await talk.say("one");
  const { run } = await persona.home.until("w", ({ state }) => state === "idle");
  const { reply } = await askOperator(persona, run?.id ?? "");
  persona.home.killRun(run?.id ?? "");
  await persona.home.until("w", (worker) => worker.run === null);
  expect(await statesOf(persona, reply.id)).toEqual(["queued", "offered", "queued"]);
});
