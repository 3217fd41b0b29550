import { afterEach, beforeEach, expect, test } from "vitest";
import { claimWithRetry, newToken } from "../../../src/client/claim.ts";
import { connectToDaemon, type Client } from "../../../src/client/connect.ts";
import type { ClaimGrant } from "../../../src/protocol/records/launch.ts";
import type { EventRecord } from "../../../src/protocol/records/admin.ts";
import type { History } from "../../../src/protocol/records/run.ts";
import type { WorkerSummary } from "../../../src/protocol/records/worker.ts";
import { finish, Home } from "../../support/home.ts";

let home: Home;
let operator: Client;
beforeEach(async () => {
  home = new Home();
  operator = await connectToDaemon({ env: home.env });
});
afterEach(async () => {
  operator.close();
  await home.clear();
});

function request(name: string): Parameters<typeof claimWithRetry>[1] {
  const here = { identity: home.project, root: home.project, base: "api" };
  const nothing = { command: null, cwd: null, environment: {}, ephemeral: false, vendor: null, fresh: false };
  return { ...nothing, target: { project: null, name, here }, kind: "client", pid: process.pid };
}

function own(name: string): Promise<ClaimGrant> {
  return claimWithRetry(async () => operator, request(name));
}

test("a claim that races with the takeover of its claimer is made before it or not at all", async () => {
  const rounds = 50;
  for (let round = 0; round < rounds; round++) {
    const grant = await own(`z${round}`);
    const zombie = await connectToDaemon({
      env: { ...home.env, PERDURE_SOCKET: grant.socket, PERDURE_TOKEN: grant.token },
    });
    const target = request(`z${round}`).target;
    // Both are on their way before either is answered: whatever is decided is decided in the change itself.
    await Promise.allSettled([
      operator.call("takeover", { target, by: "test", killAfterMs: 0 }),
      zombie.call("claim", { ...request(`other${round}`), token: newToken() }),
    ]);
    zombie.close();
  }
  const { stdout } = await home.perdure(["events", "--limit", "20000", "--json"]);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as EventRecord);
  const seqOf = (type: string, worker: string): number | undefined =>
    events.find((event) => event.type === type && event.worker === worker)?.seq;
  for (let round = 0; round < rounds; round++) {
    const claimed = seqOf("run.claimed", `other${round}`) ?? 0;
    expect(claimed).toBeLessThan(seqOf("run.displaced", `z${round}`) ?? 0);
  }
});

test("a claim whose answer was lost is the same grant when it is asked again", async () => {
  const params = { ...request("coder"), token: newToken() };
  const first = await operator.call("claim", params);
  const again = await operator.call("claim", params);
  expect(again).toMatchObject({ run: first.run, generation: 1 });
  await expect(operator.call("claim", { ...params, token: newToken() })).rejects.toMatchObject({ code: "held" });
});

test("a client is away only when its last connection is", async () => {
  const grant = await own("coder");
  const proof = { run: grant.run, generation: grant.generation, token: grant.token };
  const second = await connectToDaemon({ env: home.env });
  void second.stream("keepalive", proof, () => undefined).catch(() => undefined);
  await second.call("status", {});
  second.close();
  await expect(operator.call("release", proof)).resolves.toEqual({ released: true });
});

test("a state folder reached by another spelling, or with letters beyond ASCII, is the same one", async () => {
  const { mkdirSync, symlinkSync } = await import("node:fs");
  const real = `${home.dir}/jürgen`;
  mkdirSync(real);
  symlinkSync(real, `${home.dir}/link`);
  const at = (folder: string): { env: Record<string, string> } => ({
    env: { ...home.env, PERDURE_HOME: `${folder}/s` },
  });
  const child = home.spawn(["run", "coder", "--", "sleep", "600"], at(real));
  const ended = finish(child);
  const state = async (folder: string): Promise<string | undefined> =>
    (await home.json<{ workers: WorkerSummary[] }>(["ls"], at(folder))).workers[0]?.state;
  await expect.poll(() => state(real), { timeout: 20_000 }).toBe("running");
  await home.perdure(["daemon", "stop"], at(real));

  expect(await state(`${home.dir}/link`)).toBe("running");
  expect((await home.perdure(["run", "coder", "--", "true"], at(`${home.dir}/link`))).code).toBe(4);
  expect((await home.perdure(["takeover", "coder"], at(`${home.dir}/link`))).code).toBe(0);
  await ended;
  const { runs } = await home.json<History>(["history", "coder"], at(real));
  expect(runs.map(({ reason }) => reason)).toEqual(["displaced"]);
  await home.perdure(["daemon", "stop"], at(real));
});

test("a program that ignores TERM is killed, and its wrapper still tells by whom", async () => {
  const { child } = await home.start("coder", ["sh", "-c", "trap '' TERM; while :; do sleep 1; done"]);
  const told = finish(child);
  await home.perdure(["takeover", "coder", "--kill-after", "0"]);
  expect((await told).stderr).toContain("was displaced by operator");
});
