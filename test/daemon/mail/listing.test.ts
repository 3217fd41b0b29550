import { expect, it } from "vitest";
import type { EventRecord } from "../../../src/protocol/records/admin.ts";
import type { MessageRecord } from "../../../src/protocol/records/mail.ts";
import { eventually } from "../../support/check.ts";
import { mailHomes, type MailHome } from "./mail-home.ts";

const mailHome = mailHomes();

interface Step {
  type: string;
  id: unknown;
  from: unknown;
  to: unknown;
  run: string | null;
}

async function mailSteps(mail: MailHome): Promise<Step[]> {
  const { stdout } = await mail.home.perdure(["events", "--json", "--after", "0", "--limit", "20000"]);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as EventRecord);
  return events
    .filter(({ type }) => type.startsWith("mail."))
    .map(({ type, data, run }) => ({ type, id: data.id, from: data.from, to: data.to, run }));
}

it("every step of a message is an event with its id, sender, reader and run", async () => {
  const mail = await mailHome("coder", "mortal");
  const writer = await mail.lease("writer");
  const coder = await mail.lease("coder");
  const takes = { as: coder.as, nested: false, here: mail.here, project: null, max: 10, waitMs: 0 };
  await mail.send("coder", "a question", { id: "asked", as: writer.as, expectsReply: true });
  await mail.send("coder", "for the model", { id: "shown" });
  await coder.client.call("takeMail", takes);
  const ack = { as: coder.as, nested: false };
  await coder.client.call("ack", { ...ack, ids: ["shown"], how: "injected" });
  await coder.client.call("ack", { ...ack, ids: ["asked", "shown"], how: "read" });
  const reply = { ...ack, here: mail.here, project: null, id: "asked", body: "yes", messageId: "answer", attach: [] };
  await coder.client.call("reply", reply);
  await mail.send("mortal", "too late", { id: "late", ttlMs: 1 });
  await mail.until("late", "expired");
  await mail.send("mortal", "for nobody", { id: "lost" });
  await mail.home.perdure(["retire", "mortal"]);
  await mail.send("operator", "for you", { id: "up", as: coder.as });

  const [sender, reader] = [writer.as.run, coder.as.run];
  const asked = { id: "asked", from: "api/writer", to: "api/coder" };
  const shown = { id: "shown", from: "operator", to: "api/coder" };
  const late = { id: "late", from: "operator", to: "api/mortal", run: null };
  const lost = { id: "lost", from: "operator", to: "api/mortal", run: null };
  expect(await mailSteps(mail)).toEqual([
    { type: "mail.queued", ...asked, run: sender },
    { type: "mail.queued", ...shown, run: null },
    { type: "mail.offered", ...asked, run: reader },
    { type: "mail.offered", ...shown, run: reader },
    { type: "mail.injected", ...shown, run: reader },
    { type: "mail.read", ...asked, run: reader },
    { type: "mail.read", ...shown, run: reader },
    { type: "mail.queued", id: "answer", from: "api/coder", to: "api/writer", run: reader },
    { type: "mail.answered", ...asked, run: reader },
    { type: "mail.queued", ...late },
    { type: "mail.expired", ...late },
    { type: "mail.queued", ...lost },
    { type: "mail.dead", ...lost },
    { type: "mail.queued", id: "up", from: "api/coder", to: "operator", run: reader },
  ]);
});

it("mail without an ID lists what is on its way or did not arrive, of every mailbox of the project", async () => {
  const mail = await mailHome("coder", "mortal");
  await mail.send("coder", "first line\nsecond line", { id: "waits" });
  await mail.send("mortal", "for nobody", { id: "lost" });
  await mail.home.perdure(["retire", "mortal"]);
  await mail.send("coder", "taken back", { id: "back" });
  await mail.home.perdure(["cancel", "back"]);
  await mail.send("operator", "for you", { id: "mine", as: (await mail.lease("writer")).as });

  const listed = async (...words: string[]): Promise<string[]> => {
    const { messages } = await mail.home.json<{ messages: MessageRecord[] }>(["mail", ...words]);
    return messages.map(({ id, to, state }) => `${id} ${to} ${state}`);
  };
  expect(await listed()).toEqual(["waits api/coder queued", "lost api/mortal dead", "mine operator queued"]);
  expect(await listed("--state", "dead,cancelled")).toEqual(["lost api/mortal dead", "back api/coder cancelled"]);
  expect(await listed("--state", "all", "--limit", "2")).toEqual(["back api/coder cancelled", "mine operator queued"]);
  expect(await listed("--state", "read")).toEqual([]);

  const { stdout } = await mail.home.perdure(["mail"]);
  expect(stdout).toMatch(/^ID +STATE +FROM +TO +AGE +TEXT\nwaits +queued +operator +api\/coder +\d+s +first line\n/);
  expect(await mail.home.perdure(["mail", "--state", "ded"])).toMatchObject({ code: 2 });
  expect(await mail.home.perdure(["mail", "--redeliver"])).toMatchObject({ code: 2 });
});

it("a listing goes on where the last page ended, and is the operator's alone", async () => {
  const mail = await mailHome("coder");
  for (let n = 0; n < 5; n++) await mail.send("coder", `message ${n}`, { id: `id-${n}` });
  const client = await mail.client();
  const params = { here: mail.here, project: null, states: ["queued" as const], limit: 2 };
  const page = async (before: number | null): Promise<MessageRecord[]> =>
    (await client.collect("listMail", { ...params, before })).items;
  const pages: string[][] = [];
  for (let items = await page(null); items[0]; items = await page(items[0].seq)) pages.push(items.map(({ id }) => id));
  expect(pages).toEqual([["id-3", "id-4"], ["id-1", "id-2"], ["id-0"]]);
  const inside = await mail.runInside("coder", `${mail.perdure} mail --json`);
  expect(inside.stdout).toContain('"refused"');
});

it("events -f shows a message's steps as they happen", async () => {
  const mail = await mailHome("coder");
  const client = await mail.client();
  const seen: string[] = [];
  const follow = { here: mail.here, all: false, target: null, after: null, limit: 1, follow: true };
  const following = client.stream("events", follow, ({ type, data }) => {
    if (type.startsWith("mail.")) seen.push(`${type} ${String(data.id)} ${String(data.to)}`);
  });
  await mail.send("coder", "one", { id: "one" });
  const { client: reader, as } = await mail.lease("coder");
  await reader.call("takeMail", { as, nested: false, here: mail.here, project: null, max: 1, waitMs: 0 });
  const expected = ["mail.queued one api/coder", "mail.offered one api/coder"];
  await eventually("both steps", () => seen.length === expected.length);
  expect(seen).toEqual(expected);
  client.close();
  await expect(following).rejects.toMatchObject({ code: "unavailable" });
});
