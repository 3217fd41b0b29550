import { expect, it } from "vitest";
import { connect } from "../../../src/index.ts";
import type { MessageRecord } from "../../../src/protocol/records/mail.ts";
import { eventually } from "../../campaigns/support/check.ts";
import { offices, type Office } from "./office.ts";

const opened = offices();

it("an ask is answered after the answering worker and the daemon were killed and came back", async () => {
  const post = await opened("coder");
  const ask = post.home.perdure(["ask", "coder", "done?", "--timeout", "60s"]);
  await waiting(post, "coder");
  const { worker } = await post.home.start("coder", ["sleep", "600"]);
  await post.killDaemon();
  post.home.killRun(worker.run?.id ?? "");
  await post.killDaemon();
  expect(await post.inside("coder", `${post.perdure} pending; ${post.perdure} reply 'yes, done'`)).toMatchObject({
    code: 0,
  });
  expect(await ask).toMatchObject({ code: 0, stdout: "yes, done\n" });
  expect((await post.peek("coder")).length).toBe(0);
  expect((await post.home.perdure(["inbox"])).stdout).toBe("");
});

it("two who ask each other are told, not left waiting", async () => {
  const post = await opened("a", "b");
  const [a, b] = [await post.lease("a"), await post.lease("b")];
  const params = {
    nested: false,
    here: post.here,
    project: null,
    ttlMs: null,
    attach: [],
    declared: [],
    waitMs: 30_000,
  };
  const first = a.client.call("ask", { ...params, as: a.as, to: "b", body: "you?", id: "a-asks" }, 60_000);
  await waiting(post, "b");
  const second = b.client.call("ask", { ...params, as: b.as, to: "a", body: "no, you?", id: "b-asks" }, 60_000);
  await expect(second).rejects.toMatchObject({
    code: "conflict",
    hint: expect.stringContaining("perdure reply a-asks") as string,
  });
  expect(await post.peek("a")).toEqual([]);
  const reply = { nested: false, here: post.here, project: null, id: null, messageId: null, attach: [] };
  await b.client.call("reply", { ...reply, as: b.as, body: "me" });
  expect((await first).reply.body).toBe("me");
});

it("an answer to an asker that has gone waits for its next run", async () => {
  const post = await opened("asker", "coder");
  const asked = await post.inside("asker", `${post.perdure} ask coder 'done?' --timeout 100ms --id q`);
  expect(asked.code).toBe(6);
  await post.inside("coder", `${post.perdure} reply q 'yes'`);
  expect((await post.inside("asker", `${post.perdure} inbox`)).stdout).toMatch(/answers q\n {2}yes\n$/);
  expect((await post.trail("q")).at(-1)?.state).toBe("answered");
});

it("an answer that its asker did not live to acknowledge waits for its next run; one that it did does not", async () => {
  const post = await opened("asker", "coder");
  const { client, as } = await post.lease("asker");
  const params = { nested: false, here: post.here, project: null, ttlMs: null, attach: [], declared: [] };
  const ask = async (id: string): Promise<MessageRecord> => {
    const asked = { ...params, as, to: "coder", body: "done?", id, waitMs: 60_000 };
    const answer = client.call("ask", asked, 60_000);
    await post.until(id, "queued");
    await post.inside("coder", `${post.perdure} reply ${id} 'yes to ${id}'`);
    return (await answer).reply;
  };
  const [first, second] = [await ask("first"), await ask("second")];
  const acked = await client.call("ack", { as, nested: false, ids: [first.id], how: "read" });
  expect(acked).toEqual({ acked: [first.id], missed: [] });
  expect((await post.trail(second.id)).at(-1)?.state).toBe("offered");
  await client.call("release", as);
  const { stdout } = await post.inside("asker", `${post.perdure} inbox`);
  expect(stdout).toContain("yes to second");
  expect(stdout).not.toContain("yes to first");
});

it("whoever asks from the command line or the library acknowledges the answer", async () => {
  const post = await opened("coder");
  const ask = post.home.perdure(["ask", "coder", "done?", "--id", "q", "--timeout", "60s"]);
  await waiting(post, "coder");
  await post.inside("coder", `${post.perdure} reply q yes --id a`);
  expect(await ask).toMatchObject({ code: 0, stdout: "yes\n" });
  expect((await post.trail("a")).map(({ state }) => state)).toEqual(["queued", "offered", "read"]);
  const perdure = await connect({ env: post.home.env, cwd: post.home.project });
  const asking = perdure.ask("api/coder", "and now?", { id: "r" });
  await waiting(post, "coder");
  await post.inside("coder", `${post.perdure} reply r yes --id b`);
  expect((await asking).body).toBe("yes");
  expect((await post.trail("b")).map(({ state }) => state)).toEqual(["queued", "offered", "read"]);
  await perdure.close();
});

it("an ask that can no longer be answered is released with the reason", async () => {
  const post = await opened("coder");
  const ask = (id: string, ...more: string[]): ReturnType<typeof post.home.perdure> =>
    post.home.perdure(["ask", "coder", "done?", "--id", id, "--timeout", "60s", ...more]);
  const cancelled = ask("c");
  await waiting(post, "coder");
  await post.home.perdure(["cancel", "c"]);
  expect(await cancelled).toMatchObject({ code: 5, stderr: expect.stringContaining("it is cancelled") as string });
  expect(await ask("e", "--ttl", "1ms")).toMatchObject({
    code: 5,
    stderr: expect.stringContaining("it is expired") as string,
  });
  const dead = ask("d");
  await waiting(post, "coder");
  await post.home.perdure(["retire", "coder"]);
  expect(await dead).toMatchObject({ code: 5, stderr: expect.stringContaining("it is dead") as string });
});

it("an answer is the worker's, not the run's that lost its name while it waited", async () => {
  const post = await opened("asker", "coder");
  const { client, as } = await post.lease("asker");
  const params = {
    nested: false,
    here: post.here,
    project: null,
    ttlMs: null,
    attach: [],
    declared: [],
    waitMs: 600_000,
  };
  const asking = client.call("ask", { ...params, as, to: "coder", body: "done?", id: "q" }, 600_000);
  const refused = asking.catch((error: unknown) => error);
  await waiting(post, "coder");
  await client.call("takeover", {
    target: { project: null, name: "asker", here: post.here },
    by: "test",
    killAfterMs: 0,
  });
  expect(await refused).toMatchObject({ code: "displaced" });
  await post.inside("coder", `${post.perdure} reply q yes`);
  expect((await post.inside("asker", `${post.perdure} inbox`)).stdout).toContain("yes");
});

it("whoever asks himself is told", async () => {
  const post = await opened("coder");
  expect(await post.inside("coder", `${post.perdure} ask coder 'are you there?'`)).toMatchObject({ code: 4 });
});

it("several are asked at once", async () => {
  const post = await opened("a", "b");
  const both = post.home.json<{ answers: { id: string; reply: { from: string; body: string } }[] }>([
    "ask",
    "a,b",
    "who?",
    "--timeout",
    "60s",
  ]);
  await waiting(post, "a", "b");
  for (const name of ["b", "a"]) await post.inside(name, `${post.perdure} reply 'I am ${name}'`);
  expect((await both).answers.map(({ reply }) => [reply.from, reply.body])).toEqual([
    ["api/a", "I am a"],
    ["api/b", "I am b"],
  ]);
});

/** One message for each, as soon as it is there. */
async function waiting(post: Office, ...names: string[]): Promise<void> {
  await eventually("mail", async () => {
    const boxes = await Promise.all(names.map((name) => post.peek(name)));
    return boxes.every(({ length }) => length === 1);
  });
}
