import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { AgentPolicy } from "../../../src/daemon/permissions/policy.ts";
import { MAILBOX_MESSAGES_MAX, MESSAGE_BYTES_MAX, SENDER_BURST } from "../../../src/limits/index.ts";
import { mailHomes } from "./mail-home.ts";

const mailHome = mailHomes();

it("a renamed worker keeps its mail; the old name says who it is now, and delivers", async () => {
  const mail = await mailHome("coder");
  const { home } = mail;
  await home.perdure(["send", "coder", "before"]);
  await home.perdure(["rename", "coder", "builder"]);
  const late = await home.perdure(["send", "coder", "after"]);
  expect(late).toMatchObject({ code: 0, stderr: "coder is now api/builder\n" });
  expect((await mail.peek("builder")).map(({ body }) => body)).toEqual(["before", "after"]);
});

it("a new worker that takes a retired name has an empty mailbox; the old mail is dead, with the reason", async () => {
  const mail = await mailHome("coder");
  const { home } = mail;
  await home.perdure(["send", "coder", "for the old one", "--id", "old"]);
  await home.perdure(["retire", "coder"]);
  expect((await mail.stepsOf("old")).at(-1)).toMatchObject({ state: "dead", reason: "coder was retired" });
  await home.perdure(["run", "coder", "--", "true"]);
  expect(await mail.peek("coder")).toEqual([]);
  expect(await home.perdure(["mail", "old", "--redeliver"])).toMatchObject({ code: 4 });
});

it("an unknown name is refused with the nearest ones; one that perdure.toml declares has a mailbox before it ever ran", async () => {
  const mail = await mailHome("coder");
  const { home } = mail;
  expect(await home.perdure(["send", "codr", "x"])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("did you mean coder?") as string,
  });
  writeFileSync(join(home.project, "perdure.toml"), '[workers.pair]\ncount = 2\ngroup = "twins"\n[workers.solo]\n');
  expect((await home.perdure(["send", "pair-2", "welcome"])).code).toBe(0);
  expect((await home.perdure(["send", "pair-3", "welcome"])).code).toBe(3);
  expect((await home.perdure(["send", "--group", "twins", "both of you"])).code).toBe(0);
  expect((await mail.peek("pair-1")).map(({ body }) => body)).toEqual(["both of you"]);
  expect((await mail.peek("pair-2")).map(({ body }) => body)).toEqual(["welcome", "both of you"]);
  expect((await home.perdure(["send", "--group", "triplets", "x"])).stderr).toContain("there are: twins");
});

it("a message to all goes to every worker but the sender", async () => {
  const mail = await mailHome("coder", "planner", "tester");
  const { home } = mail;
  const said = await mail.runInside("coder", `${mail.perdure} send @all hello --id h`);
  expect(said).toMatchObject({ code: 0 });
  expect(await Promise.all(["coder", "planner", "tester"].map(async (name) => (await mail.peek(name)).length))).toEqual(
    [0, 1, 1],
  );
  expect((await home.json<{ workers: { name: string; unread: number }[] }>(["ls"])).workers).toMatchObject([
    { name: "coder", unread: 0 },
    { name: "planner", unread: 1 },
    { name: "tester", unread: 1 },
  ]);
});

it("a paused worker's mail waits, in order, and comes when it goes on", async () => {
  const mail = await mailHome("coder");
  const { home } = mail;
  await home.perdure(["pause", "coder"]);
  for (const body of ["one", "two"]) await mail.send("coder", body);
  expect((await mail.runInside("coder", `${mail.perdure} inbox --json`)).stdout).toContain('"messages": []');
  expect((await mail.peek("coder")).map(({ state }) => state)).toEqual(["queued", "queued"]);
  await home.perdure(["pause", "coder", "--off"]);
  const { stdout } = await mail.runInside("coder", `${mail.perdure} inbox --json`);
  expect((JSON.parse(stdout) as { messages: { body: string }[] }).messages.map(({ body }) => body)).toEqual([
    "one",
    "two",
  ]);
});

it("a full mailbox is an error with a hint, and nothing is dropped", async () => {
  const mail = await mailHome("coder");
  const { home } = mail;
  await mail.send("coder", "first");
  await mail.changeStore(`UPDATE mailboxes SET messages = ${MAILBOX_MESSAGES_MAX}`);
  const full = await home.perdure(["send", "coder", "one too many"]);
  expect(full.code).toBe(7);
  expect(full.stderr).toMatch(/The mailbox of api\/coder is full: .*\n {2}→ the worker has to read them/);
  expect((await mail.peek("coder")).map(({ body }) => body)).toEqual(["first"]);
});

it("a message that is too long, and a worker that sends too fast, are told so", async () => {
  const mail = await mailHome("coder");
  const { home } = mail;
  expect(await home.perdure(["send", "coder", "-"])).toMatchObject({ code: 2 }); // nothing on standard input
  await expect(mail.send("coder", "x".repeat(MESSAGE_BYTES_MAX + 1))).rejects.toMatchObject({ code: "usage" });
  const { client, as } = await mail.lease("sender");
  const sends = Array.from({ length: 3 * SENDER_BURST }, () => {
    return client.call("send", mail.params("coder", "x", { as })).then(
      () => "taken",
      (error: { code: string }) => error.code,
    );
  });
  const outcomes = await Promise.all(sends);
  expect(new Set(outcomes)).toEqual(new Set(["taken", "too-fast"]));
  expect(await mail.peek("coder")).toHaveLength(100);
  const { unread } = await home.until("coder", () => true);
  expect(unread).toBe(outcomes.filter((each) => each === "taken").length);
});

it("expired mail is kept with the reason, is not delivered, and can be delivered all the same", async () => {
  const mail = await mailHome("coder");
  const { home } = mail;
  await home.perdure(["send", "coder", "too late", "--ttl", "1ms", "--id", "late"]);
  await mail.until("late", "expired");
  expect(await mail.peek("coder")).toEqual([]);
  expect(await home.perdure(["mail", "late", "--redeliver"])).toMatchObject({ code: 0 });
  expect((await mail.peek("coder")).map(({ body }) => body)).toEqual(["too late"]);
  expect((await mail.stepsOf("late")).map(({ state }) => state)).toEqual(["queued", "expired", "queued"]);
});

it("perdure.toml can take a verb away from the project's agents, and not from the operator", async () => {
  const mail = await mailHome("coder", "planner");
  const { home } = mail;
  writeFileSync(join(home.project, "perdure.toml"), '[policy]\nagents_may = ["inbox"]\n');
  const refused = await mail.runInside("coder", `${mail.perdure} send planner hello`);
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining("agents_may") as string });
  expect((await mail.runInside("coder", `${mail.perdure} inbox`)).code).toBe(0);
  expect((await home.perdure(["send", "planner", "hello"])).code).toBe(0);
});

it("a mistake in perdure.toml keeps nobody from mail, and gives back nothing that the file took away", async () => {
  const mail = await mailHome("planner");
  const { home } = mail;
  const file = join(home.project, "perdure.toml");
  writeFileSync(file, '[policy]\nagents_may = ["inbox"]\n');
  const policy = new AgentPolicy();
  const allowed = (second: number): boolean[] =>
    (["send", "inbox"] as const).map((word) => policy.isAllowed(home.project, word, second * 1000));
  expect(allowed(0)).toEqual([false, true]);
  writeFileSync(file, '[policy]\nagents_may = ["inbox"]\noops\n');
  expect(allowed(60)).toEqual([false, true]);
  const sent = await home.perdure(["send", "planner", "from the operator"]);
  expect(sent).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^perdure: perdure\.toml:3: [^]*→ edit/) as string,
  });
  expect((await mail.peek("planner")).map(({ body }) => body)).toEqual(["from the operator"]);
  writeFileSync(file, "");
  expect(allowed(120)).toEqual([true, true]);
});

it("mail stays in its project: an agent is refused with a hint, the operator is at home everywhere", async () => {
  const mail = await mailHome("coder");
  const { home } = mail;
  await home.perdure(["run", "coder", "--", "true"], { cwd: home.dir });
  const other = (await home.json<{ workers: { project: string }[] }>(["ls", "--all"])).workers.find(
    ({ project }) => project !== "api",
  )?.project;
  const refused = await mail.runInside("coder", `${mail.perdure} send ${other}/coder hello`);
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain("perdure send operator TEXT");
  expect((await home.perdure(["send", `${other}/coder`, "hello"])).code).toBe(0);
});
