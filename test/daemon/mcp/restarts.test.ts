import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, it } from "vitest";
import { ASK_TOOL_WAIT_MS, BRIDGE_LINE_BYTES_MAX } from "../../../src/limits/index.ts";
import { eventually } from "../../support/check.ts";
import { mailHomes, type MailHome } from "../mail/mail-home.ts";
import { lastingRun, McpAgent } from "./agent.ts";

const mailHome = mailHomes();
const agents: McpAgent[] = [];
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.close();
});

async function agentOf(mail: MailHome, name: string, bridge: string): Promise<McpAgent> {
  const run = await lastingRun(mail.home, name);
  const agent = await McpAgent.start(mail.home, run, { env: { PERDURE_BRIDGE: bridge } });
  agents.push(agent);
  return agent;
}

describe.each([["perl"], ["node"]])("through the bridge in %s", (bridge) => {
  it("a question is answered once, with the daemon killed before the reply and after it", async () => {
    const mail = await mailHome("coder", "reviewer");
    const coder = await agentOf(mail, "coder", bridge);
    const reviewer = await agentOf(mail, "reviewer", bridge);
    for (let round = 0; round < 3; round++) {
      const asking = coder.result<{ reply: { id: string; text: string } }>("ask", {
        to: "reviewer",
        text: `q${round}`,
      });
      await eventually("the question", async () => (await mail.peek("reviewer")).length === 1);
      await mail.killDaemon();
      const { messages } = await reviewer.result<{ messages: { id: string; text: string }[] }>("inbox");
      expect(messages.map(({ text }) => text)).toEqual([`q${round}`]);
      if (round === 1) await mail.killDaemon();
      const replied = reviewer.result("reply", { id: messages[0]?.id ?? "", text: `a${round}` });
      if (round === 2) await mail.killDaemon();
      await replied;
      expect((await asking).reply.text).toBe(`a${round}`);
    }
    expect(await coder.result("inbox")).toEqual({ messages: [], more: false });
  });

  it("what is sent while the daemon is killed again and again arrives once each", async () => {
    const mail = await mailHome("coder", "reviewer");
    const coder = await agentOf(mail, "coder", bridge);
    const texts = Array.from({ length: 24 }, (_, number) => `message ${number}`);
    const sent = texts.map((text) => coder.result("send", { to: "reviewer", text }));
    for (let kills = 0; kills < 4; kills++) {
      await mail.killDaemon();
      await Promise.race(sent);
      // Nobody else starts one once everything is sent.
      await mail.home.perdure(["daemon", "start"]);
    }
    await Promise.all(sent);
    const arrived = (await mail.peek("reviewer")).map(({ body }) => body);
    expect(arrived.toSorted()).toEqual(texts.toSorted());
  });

  it("a call that is too long is refused, once, and the next one is answered", async () => {
    const mail = await mailHome("coder", "reviewer");
    const coder = await agentOf(mail, "coder", bridge);
    const text = "a".repeat(BRIDGE_LINE_BYTES_MAX);
    await expect(coder.call("send", { to: "reviewer", text })).rejects.toThrow(/exceeds the limit of 1048576 bytes/);
    await coder.result("send", { to: "reviewer", text: "short" });
    expect((await mail.peek("reviewer")).map(({ body }) => body)).toEqual(["short"]);
  });

  it("the bridge ends with its agent, also while there is no daemon", async () => {
    const mail = await mailHome("coder");
    const agent = await agentOf(mail, "coder", bridge);
    await mail.killDaemon();
    const { bridgePid } = agent;
    await agent.close();
    await eventually("the end of the bridge", () => !isAlive(bridgePid));
    expect(isAlive(bridgePid)).toBe(false);
  });
});

it("a call that has waited for long, in a bridge that asks again, is told at once that there is no reply yet", async () => {
  const mail = await mailHome("coder", "reviewer");
  const { grant } = await mail.lease("coder");
  const socket = connect(grant.socket);
  await once(socket, "connect");
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const hello = { mcp: 1, version: "0", bridge: "b", nested: false, token: grant.token };
  const params = { name: "ask", arguments: { to: "reviewer", text: "when?" } };
  const ask = { jsonrpc: "2.0", id: "a", method: "tools/call", params };
  socket.write(`${JSON.stringify(hello)}\n7 ${ASK_TOOL_WAIT_MS / 1000} ${JSON.stringify(ask)}\n`);
  expect((await lines.next()).value).toMatch(/^\{"perdure"/);
  const [number, answer] = splitOnce(String((await lines.next()).value));
  expect(number).toBe("7");
  const { result } = JSON.parse(answer) as { result: { structuredContent: { id: string } } };
  const [question] = await mail.peek("reviewer");
  expect(result.structuredContent).toMatchObject({ status: "waiting", id: question?.id });
  socket.destroy();
});

function splitOnce(line: string): [string, string] {
  const at = line.indexOf(" ");
  return [line.slice(0, at), line.slice(at + 1)];
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
