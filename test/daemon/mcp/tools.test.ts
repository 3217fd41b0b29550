import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { TOOL_NAMES } from "../../../src/protocol/tools.ts";
import { eventually } from "../../support/check.ts";
import { mailHomes, type MailHome } from "../mail/mail-home.ts";
import { McpAgent, type AgentOptions } from "./agent.ts";

const mailHome = mailHomes();
const agents: McpAgent[] = [];
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.close();
});

async function agentOf(mail: MailHome, name: string, options: AgentOptions = {}): Promise<McpAgent> {
  const { grant } = await mail.lease(name);
  const agent = await McpAgent.start(mail.home, grant, options);
  agents.push(agent);
  return agent;
}

interface Asked {
  id: string;
  status: string;
  reply: { id: string; from: string; text: string };
}

describe.each([["perl"], ["node"]])("through the bridge in %s", (kind) => {
  const env = { PERDURE_BRIDGE: kind };

  it("an agent has seven tools with titles, hints and schemas", async () => {
    const mail = await mailHome("coder");
    const agent = await agentOf(mail, "coder", { env });
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([...TOOL_NAMES]);
    for (const tool of tools) {
      expect(tool.title).toBeTruthy();
      expect(tool.outputSchema).toMatchObject({ type: "object" });
      expect(tool.annotations).toMatchObject({ destructiveHint: false, openWorldHint: false });
    }
    expect(agent.client.getServerVersion()?.name).toBe("perdure");
    await agent.client.ping();
  });

  it("ask returns the reply in the same call, with progress in between, and the reply is read once", async () => {
    const mail = await mailHome("coder", "reviewer");
    const coder = await agentOf(mail, "coder", { env });
    const reviewer = await agentOf(mail, "reviewer", { env });
    const asking = coder.result<Asked>("ask", { to: "reviewer", text: "is it safe?" });
    const question = await theQuestion(reviewer);
    expect(question).toMatchObject({ from: "api/coder", text: "is it safe?", expectsReply: true });
    await reviewer.result("reply", { id: question.id, text: "yes" });
    const { status, reply, id } = await asking;
    expect({ status, id, from: reply.from, text: reply.text }).toEqual({
      status: "answered",
      id: question.id,
      from: "api/reviewer",
      text: "yes",
    });
    await mail.until(reply.id, "read");
    expect(await coder.result("inbox")).toEqual({ messages: [], more: false });
  });
});

it("the text of an answer is the same as its structured content", async () => {
  const mail = await mailHome("coder");
  const agent = await agentOf(mail, "coder", { discovers: true });
  const { content, structuredContent } = await agent.call("whoami");
  expect(structuredContent).toMatchObject({ address: "api/coder", name: "coder", nested: false });
  expect(content).toEqual([{ type: "text", text: JSON.stringify(structuredContent) }]);
});

it("send, list, reply without an id and the context log do what the commands do", async () => {
  const mail = await mailHome("coder", "reviewer");
  const coder = await agentOf(mail, "coder");
  const { workers } = await coder.result<{ workers: { name: string; you: boolean }[] }>("list");
  expect(workers.map(({ name, you }) => [name, you])).toEqual([
    ["coder", true],
    ["reviewer", false],
  ]);
  const sent = await coder.result("send", { to: "reviewer", text: "the build is red" });
  expect(sent).toMatchObject({
    messages: [{ to: "api/reviewer", state: "queued", delivered: "at its next start" }],
  });
  expect(await mail.peek("reviewer")).toMatchObject([{ from: "api/coder", body: "the build is red" }]);
  await mail.send("coder", "are you done?", { id: "q1", expectsReply: true });
  expect(await coder.result("reply", { text: "nearly" })).toMatchObject({ to: "operator", replyTo: "q1" });
  const { path } = await coder.result<{ path: string }>("context_log", { text: "tests pass" });
  expect(readFileSync(path, "utf8")).toMatch(/^- \S+Z tests pass\n$/);
});

it("a call that the agent gives up takes no question back; asked on with its id, the reply comes", async () => {
  const mail = await mailHome("coder", "reviewer");
  const coder = await agentOf(mail, "coder");
  const cancelled = new AbortController();
  const first = coder.client.callTool(
    { name: "ask", arguments: { to: "reviewer", text: "when?" } },
    { signal: cancelled.signal },
  );
  const question = await eventuallyOne(() => mail.peek("reviewer"));
  // The agent gives the call up; the question stands.
  cancelled.abort();
  await expect(first).rejects.toThrow(/abort/i);
  const again = coder.result<Asked>("ask", { id: question.id });
  const reviewer = await agentOf(mail, "reviewer");
  await reviewer.result("reply", { id: question.id, text: "tomorrow" });
  expect(await again).toMatchObject({ id: question.id, status: "answered", reply: { text: "tomorrow" } });
});

it("no argument makes an agent somebody else, and a run that lost its name does nothing", async () => {
  const mail = await mailHome("coder", "reviewer");
  const coder = await agentOf(mail, "coder");
  for (const forged of [{ from: "operator" }, { as: { run: "x" } }, { nested: true }, { token: "t" }]) {
    expect(await coder.failure("send", { to: "reviewer", text: "obey", ...forged })).toContain("there is no argument");
  }
  await coder.result("send", { to: "reviewer", text: "obey\u001b[2J" });
  expect(await mail.peek("reviewer")).toMatchObject([{ from: "api/coder" }]);
  const other = await mail.lease("reviewer");
  const reviewer = await McpAgent.start(mail.home, other.grant);
  agents.push(reviewer);
  expect(JSON.stringify(await reviewer.result("inbox"))).not.toContain("\\u001b");
  await other.client.call("release", other.as);
  for (const tool of ["list", "whoami", "inbox"]) expect(await reviewer.failure(tool)).toContain("stale");
});

it.each([["no-such-token-no-such-token-no-such-token"], [""]])(
  "the token %j is nobody's, not the operator's",
  async (token) => {
    const mail = await mailHome("coder");
    const { grant } = await mail.lease("coder");
    await expect(McpAgent.start(mail.home, { ...grant, token })).rejects.toThrow(/not the token of a known run|closed/);
  },
);

it("a nested agent's bridge is marked as such: it sends under that mark and has no mailbox", async () => {
  const mail = await mailHome("coder", "reviewer");
  // Shells that are called like agents: what counts is the program's name in the process tree.
  const below = ["claude", "codex"].map((name) => join(mail.home.dir, name));
  for (const shell of below) copyFileSync("/bin/bash", shell);
  await mail.send("coder", "for the worker alone");
  const own = await agentOf(mail, "coder", { below: below.slice(0, 1) });
  expect(await own.result("whoami")).toMatchObject({ nested: false });
  const nested = await McpAgent.start(mail.home, own.grant, { below });
  agents.push(nested);
  expect(await nested.result("whoami")).toMatchObject({ nested: true });
  for (const [tool, args] of [
    ["inbox", {}],
    ["reply", { text: "as the worker" }],
  ] as const) {
    expect(await nested.failure(tool, args)).toContain("nested agent");
  }
  await nested.result("send", { to: "reviewer", text: "hello" });
  expect(await mail.peek("reviewer")).toMatchObject([{ from: "api/coder~nested", body: "hello" }]);
  expect(await mail.peek("coder")).toMatchObject([{ state: "queued" }]);
});

async function theQuestion(agent: McpAgent): Promise<{ id: string; from: string; text: string }> {
  return eventuallyOne(
    async () => (await agent.result<{ messages: { id: string; from: string; text: string }[] }>("inbox")).messages,
  );
}

async function eventuallyOne<T extends { id: string }>(look: () => Promise<T[]>): Promise<T> {
  let found: T | undefined;
  await eventually("a message", async () => {
    [found] = await look();
    return found !== undefined;
  });
  if (found === undefined) throw new Error("no message");
  return found;
}

describe("a long message", () => {
  const body = Array.from({ length: 400 }, (_, n) => `line ${n} ${"é".repeat(40)}`).join("\n");

  interface Part {
    id: string;
    text: string;
    part: number;
    parts: number;
    next?: string;
  }

  async function stateOf(mail: MailHome, id: string): Promise<string | undefined> {
    return (await mail.stepsOf(id)).at(-1)?.state;
  }

  async function readOn(agent: McpAgent, first: Part): Promise<string> {
    let text = first.text;
    for (let part = 2; part <= first.parts; part++) {
      const { messages } = await agent.result<{ messages: Part[] }>("inbox", { id: first.id, part });
      text += messages[0]?.text;
    }
    return text;
  }

  it("comes in parts that no agent's program cuts, and counts as read with the last one", async () => {
    const mail = await mailHome("coder");
    const coder = await agentOf(mail, "coder");
    await mail.send("coder", "short", { id: "s1" });
    await mail.send("coder", body, { id: "l1" });
    expect(await coder.result("inbox")).toMatchObject({ messages: [{ id: "s1", text: "short" }], more: true });
    const { messages, more } = await coder.result<{ messages: Part[]; more: boolean }>("inbox");
    const [first] = messages;
    expect({ count: messages.length, more, id: first?.id, part: first?.part }).toEqual({
      count: 1,
      more: false,
      id: "l1",
      part: 1,
    });
    expect(first?.next).toContain('{"id":"l1","part":2}');
    expect(await stateOf(mail, "l1")).toBe("offered");
    expect(await readOn(coder, first as Part)).toBe(body);
    await mail.until("l1", "read");
    expect(await coder.result("inbox")).toEqual({ messages: [], more: false });
  });

  it("as a reply is read on the same way", async () => {
    const mail = await mailHome("coder", "reviewer");
    const coder = await agentOf(mail, "coder");
    const reviewer = await agentOf(mail, "reviewer");
    const asking = coder.result<{ reply: Part }>("ask", { to: "reviewer", text: "the diff?" });
    const question = await theQuestion(reviewer);
    await reviewer.result("reply", { id: question.id, text: body });
    const { reply } = await asking;
    expect(reply.parts).toBeGreaterThan(1);
    expect(await stateOf(mail, reply.id)).not.toBe("read");
    expect(await readOn(coder, reply)).toBe(body);
    await mail.until(reply.id, "read");
    // It can be read again, and another's cannot be.
    expect((await coder.result<{ messages: Part[] }>("inbox", { id: reply.id })).messages[0]?.text).toBe(reply.text);
    expect(await coder.failure("inbox", { id: reply.id, part: 99 })).toContain(`has ${reply.parts}`);
    const stranger = await mail.send("reviewer", "not for coder");
    expect(await coder.failure("inbox", { id: stranger.id })).toMatch(/may not|not/);
  });
});
