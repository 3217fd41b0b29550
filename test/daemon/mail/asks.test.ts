import { expect, it } from "vitest";
import { connect } from "../../../src/index.ts";
import type { MessageRecord } from "../../../src/protocol/records/mail.ts";
import { eventually } from "../../support/check.ts";
import { mailHomes, type MailHome } from "./mail-home.ts";

const mailHome = mailHomes();

it("an ask is answered after the answering worker and the daemon were killed and came back", async () => {
  const mail = await mailHome("coder");
  const ask = mail.home.perdure(["ask", "coder", "done?", "--timeout", "60s"]);
  await waiting(mail, "coder");
  const { worker } = await mail.home.start("coder", ["sleep", "600"]);
  await mail.killDaemon();
  mail.home.killRun(worker.run?.id ?? "");
  await mail.killDaemon();
  expect(await mail.runInside("coder", `${mail.perdure} pending; ${mail.perdure} reply 'yes, done'`)).toMatchObject({
    code: 0,
  });
  expect(await ask).toMatchObject({ code: 0, stdout: "yes, done\n" });
  expect((await mail.peek("coder")).length).toBe(0);
  expect((await mail.home.perdure(["inbox"])).stdout).toBe("");
});

it("a worker that asks itself is refused, with what it can type instead", async () => {
  const mail = await mailHome("a");
  const { code, stderr } = await mail.runInside("a", `${mail.perdure} ask a 'who am I?' --timeout 10s`);
  expect(code).toBe(4);
  expect(stderr).toContain("a asks itself, and cannot answer while it waits.");
  expect(stderr).toMatch(/→ perdure send \S*a TEXT\n/);
});

it("two workers that ask each other are refused, not left waiting", async () => {
  const mail = await mailHome("a", "b");
  const [a, b] = [await mail.lease("a"), await mail.lease("b")];
  const params = {
    nested: false,
    here: mail.here,
    project: null,
    ttlMs: null,
    attach: [],
    declared: [],
    waitMs: 30_000,
  };
  const first = a.client.call("ask", { ...params, as: a.as, to: "b", body: "you?", id: "a-asks" }, 60_000);
  await waiting(mail, "b");
  const second = b.client.call("ask", { ...params, as: b.as, to: "a", body: "no, you?", id: "b-asks" }, 60_000);
  await expect(second).rejects.toMatchObject({
    code: "conflict",
    hint: expect.stringContaining("perdure reply a-asks") as string,
  });
  expect(await mail.peek("a")).toEqual([]);
  const reply = { nested: false, here: mail.here, project: null, id: null, messageId: null, attach: [] };
  await b.client.call("reply", { ...reply, as: b.as, body: "me" });
  expect((await first).reply.body).toBe("me");
});

it("an answer to an asker that has gone waits for its next run", async () => {
  const mail = await mailHome("asker", "coder");
  const asked = await mail.runInside("asker", `${mail.perdure} ask coder 'done?' --timeout 100ms --id q`);
  expect(asked.code).toBe(6);
  await mail.runInside("coder", `${mail.perdure} reply q 'yes'`);
  expect((await mail.runInside("asker", `${mail.perdure} inbox`)).stdout).toMatch(/replies to q\n {2}yes\n$/);
  expect((await mail.stepsOf("q")).at(-1)?.state).toBe("answered");
});

it("an answer that its asker did not live to acknowledge waits for its next run; one that it did does not", async () => {
  const mail = await mailHome("asker", "coder");
  const { client, as } = await mail.lease("asker");
  const params = { nested: false, here: mail.here, project: null, ttlMs: null, attach: [], declared: [] };
  const ask = async (id: string): Promise<MessageRecord> => {
    const asked = { ...params, as, to: "coder", body: "done?", id, waitMs: 60_000 };
    const answer = client.call("ask", asked, 60_000);
    await mail.until(id, "queued");
    await mail.runInside("coder", `${mail.perdure} reply ${id} 'yes to ${id}'`);
    return (await answer).reply;
  };
  const [first, second] = [await ask("first"), await ask("second")];
  const acked = await client.call("ack", { as, nested: false, ids: [first.id], how: "read" });
  expect(acked).toEqual({ acked: [first.id], missed: [] });
  expect((await mail.stepsOf(second.id)).at(-1)?.state).toBe("offered");
  await client.call("release", as);
  const { stdout } = await mail.runInside("asker", `${mail.perdure} inbox`);
  expect(stdout).toContain("yes to second");
  expect(stdout).not.toContain("yes to first");
});

it("whoever asks from the command line or the library acknowledges the answer", async () => {
  const mail = await mailHome("coder");
  const ask = mail.home.perdure(["ask", "coder", "done?", "--id", "q", "--timeout", "60s"]);
  await waiting(mail, "coder");
  await mail.runInside("coder", `${mail.perdure} reply q yes --id a`);
  expect(await ask).toMatchObject({ code: 0, stdout: "yes\n" });
  expect((await mail.stepsOf("a")).map(({ state }) => state)).toEqual(["queued", "offered", "read"]);
  const perdure = await connect({ env: mail.home.env, cwd: mail.home.project });
  const asking = perdure.ask("api/coder", "and now?", { id: "r" });
  await waiting(mail, "coder");
  await mail.runInside("coder", `${mail.perdure} reply r yes --id b`);
  expect((await asking).body).toBe("yes");
  expect((await mail.stepsOf("b")).map(({ state }) => state)).toEqual(["queued", "offered", "read"]);
  await perdure.close();
});

it("an ask that can no longer be answered is released with the reason", async () => {
  const mail = await mailHome("coder");
  const ask = (id: string, ...more: string[]): ReturnType<typeof mail.home.perdure> =>
    mail.home.perdure(["ask", "coder", "done?", "--id", id, "--timeout", "60s", ...more]);
  const cancelled = ask("c");
  await waiting(mail, "coder");
  await mail.home.perdure(["cancel", "c"]);
  expect(await cancelled).toMatchObject({ code: 5, stderr: expect.stringContaining("it is cancelled") as string });
  expect(await ask("e", "--ttl", "1ms")).toMatchObject({
    code: 5,
    stderr: expect.stringContaining("it is expired") as string,
  });
  const dead = ask("d");
  await waiting(mail, "coder");
  await mail.home.perdure(["retire", "coder"]);
  expect(await dead).toMatchObject({ code: 5, stderr: expect.stringContaining("it is dead") as string });
});

it("an answer is the worker's, not the run's that lost its name while it waited", async () => {
  const mail = await mailHome("asker", "coder");
  const { client, as } = await mail.lease("asker");
  const params = {
    nested: false,
    here: mail.here,
    project: null,
    ttlMs: null,
    attach: [],
    declared: [],
    waitMs: 600_000,
  };
  const asking = client.call("ask", { ...params, as, to: "coder", body: "done?", id: "q" }, 600_000);
  const refused = asking.catch((error: unknown) => error);
  await waiting(mail, "coder");
  await client.call("takeover", {
    target: { project: null, name: "asker", here: mail.here },
    by: "test",
    killAfterMs: 0,
  });
  expect(await refused).toMatchObject({ code: "displaced" });
  await mail.runInside("coder", `${mail.perdure} reply q yes`);
  expect((await mail.runInside("asker", `${mail.perdure} inbox`)).stdout).toContain("yes");
});

it("an ask to oneself is refused", async () => {
  const mail = await mailHome("coder");
  expect(await mail.runInside("coder", `${mail.perdure} ask coder 'are you there?'`)).toMatchObject({ code: 4 });
});

it("one ask goes to several workers at once", async () => {
  const mail = await mailHome("a", "b");
  const both = mail.home.json<{ answers: { id: string; reply: { from: string; body: string } }[] }>([
    "ask",
    "a,b",
    "who?",
    "--timeout",
    "60s",
  ]);
  await waiting(mail, "a", "b");
  for (const name of ["b", "a"]) await mail.runInside(name, `${mail.perdure} reply 'I am ${name}'`);
  expect((await both).answers.map(({ reply }) => [reply.from, reply.body])).toEqual([
    ["api/a", "I am a"],
    ["api/b", "I am b"],
  ]);
});

/** One message for each, as soon as it is there. */
async function waiting(mail: MailHome, ...names: string[]): Promise<void> {
  await eventually("mail", async () => {
    const boxes = await Promise.all(names.map((name) => mail.peek(name)));
    return boxes.every(({ length }) => length === 1);
  });
}
