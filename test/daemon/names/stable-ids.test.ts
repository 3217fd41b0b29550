import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { EventRecord, ProjectSummary } from "../../../src/protocol/records/admin.ts";
import type { Admitted, MessageRecord } from "../../../src/protocol/records/mail.ts";
import type { WorkerDetail, WorkerSummary } from "../../../src/protocol/records/worker.ts";
import { connect } from "../../../src/index.ts";
import { mailHomes } from "../mail/mail-home.ts";

const mailHome = mailHomes();

test("a worker's uid stays when it is renamed, and is another one for a newcomer of its name", async () => {
  const { home } = await mailHome("coder", "other");
  const show = (name: string): Promise<WorkerDetail> => home.json(["show", name]);
  const { uid, projectUid } = await show("coder");
  expect([uid, projectUid].join(" ")).toMatch(/^[0-9a-f]{32} [0-9a-f]{32}$/);
  expect((await show("other")).uid).not.toBe(uid);

  await home.perdure(["rename", "coder", "writer"]);
  expect(await show("writer")).toMatchObject({ uid, projectUid });
  const { workers } = await home.json<{ workers: WorkerSummary[] }>(["ls"]);
  expect(workers.find(({ name }) => name === "writer")).toMatchObject({ uid, projectUid });

  await home.perdure(["retire", "writer"]);
  await home.perdure(["run", "writer", "--", "true"]);
  expect((await show("writer")).uid).not.toBe(uid);
});

test("a worker is found by its uid, or the unique beginning of one, from any folder; a name goes first", async () => {
  const { home } = await mailHome("coder");
  const { uid } = await home.json<WorkerDetail>(["show", "coder"]);
  const elsewhere = join(home.dir, "elsewhere");
  mkdirSync(elsewhere);
  for (const text of [uid, uid.slice(0, 8)]) {
    expect(await home.json(["show", text])).toMatchObject({ address: "api/coder" });
    expect(await home.json(["show", text], { cwd: elsewhere })).toMatchObject({ address: "api/coder" });
  }
  expect(await home.perdure(["show", uid.slice(0, 7)])).toMatchObject({ code: 3 });
  expect(await home.perdure(["show", `${uid.slice(0, 8)}${"0".repeat(24)}`])).toMatchObject({ code: 3 });
  await home.perdure(["run", uid.slice(0, 8), "--", "true"]);
  expect(await home.json(["show", uid.slice(0, 8)])).toMatchObject({ address: `api/${uid.slice(0, 8)}` });
});

test("a project's uid stays when its folder is moved", async () => {
  const { home } = await mailHome("coder");
  const { uid } = await home.json<ProjectSummary & { uid: string }>(["project"]);
  const moved = join(home.dir, "moved");
  renameSync(home.project, moved);
  expect(await home.json(["project", "move", uid.slice(0, 12)], { cwd: moved })).toMatchObject({ uid, slug: "api" });
  expect(await home.json(["project"], { cwd: moved })).toMatchObject({ uid, root: moved });
  renameSync(moved, home.project);
});

test("a message has a uid with its id in it, which is taken back; events carry the uids, too", async () => {
  const { home } = await mailHome("coder");
  const { uid: workerUid, projectUid } = await home.json<WorkerDetail>(["show", "coder"]);
  const sent = await home.json<Admitted>(["send", "coder", "hello", "--id", "note-1"]);
  const status = await home.json<{ store: { uid: string } }>(["daemon", "status"]);
  expect(sent).toMatchObject({ id: "note-1", uid: `${status.store.uid}.note-1` });
  const { message } = await home.json<{ message: MessageRecord }>(["mail", sent.uid]);
  expect(message).toMatchObject({ id: "note-1", uid: sent.uid });
  const { stdout } = await home.perdure(["events", "--json", "--limit", "1"]);
  expect(JSON.parse(stdout) as EventRecord).toMatchObject({
    type: "mail.queued",
    workerUid,
    projectUid,
    data: { id: "note-1", uid: sent.uid, to: "api/coder" },
  });
});

test("the library's lease, listing and mail have them", async () => {
  const { home } = await mailHome("coder");
  await using perdure = await connect({ env: home.env, cwd: home.project });
  await using lease = await perdure.claim("coder");
  for await (const worker of perdure.list()) expect(worker.uid).toBe(lease.uid);
  const { uid } = await perdure.send("coder", "hello");
  const listed: MessageRecord[] = [];
  for await (const message of perdure.mail()) listed.push(message);
  expect(listed).toMatchObject([{ uid, to: "api/coder", state: "queued" }]);
});
