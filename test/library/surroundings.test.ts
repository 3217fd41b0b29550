import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { connect, type Perdure } from "../../src/index.ts";
import { Home } from "../support/home.ts";

let home: Home;
beforeAll(() => {
  home = new Home();
});
afterAll(() => home.clear());

function connected(env: Record<string, string> = {}): Promise<Perdure> {
  return connect({ env: { ...home.env, ...env }, cwd: home.project });
}

it("claims the pinned name where none is given, by the rules of whoami", async () => {
  await using perdure = await connected({ PI_INTERCOM_SESSION_NAME: "pinned" });
  expect(await perdure.whoami()).toMatchObject({ address: "api/pinned", actor: "operator" });
  await using lease = await perdure.claim();
  expect(lease.address).toBe("api/pinned");
  writeFileSync(join(home.project, "perdure.toml"), 'name = "solo"\n');
  await using configured = await connected();
  await using own = await configured.claim(null);
  expect(own.address).toBe("api/solo");
  writeFileSync(join(home.project, "perdure.toml"), "");
  await using nobody = await connected({ PERDURE_NAME: " " });
  await expect(nobody.claim()).rejects.toMatchObject({ code: "usage", hint: expect.stringContaining("PERDURE_NAME") });
});

it("looks at the mail of a worker that it is only pinned to, and takes the operator's", async () => {
  await using perdure = await connected({ PERDURE_NAME: "reader" });
  await (await perdure.claim()).release();
  await perdure.send("reader", "for its run");
  await perdure.send("operator", "for the operator");
  for (let looks = 0; looks < 2; looks++) {
    const seen: string[] = [];
    for await (const { body } of perdure.inbox()) seen.push(body);
    expect(seen).toEqual(["for its run"]);
  }
  for await (const message of perdure.receive()) {
    expect(message.body).toBe("for the operator");
    expect(await message.ack()).toBe(true);
    break;
  }
});

it("acts as the worker whose run it is part of: receives, replies and looks at its own mail", async () => {
  await using operator = await connected();
  await using lease = await operator.claim("worker");
  const env = {
    PERDURE_TOKEN: lease.token,
    PERDURE_SOCKET: join(home.state, "perdure.sock"),
    PERDURE_NAME: "worker",
    PERDURE_PROJECT: "api",
    PERDURE_RUN: lease.run,
  };
  await using worker = await connected(env);
  expect(await worker.whoami()).toMatchObject({ actor: "worker", run: lease.run });
  const asked = operator.ask("worker", "well?", { id: "q1" });
  for await (const { id, body } of worker.receive()) {
    expect(body).toBe("well?");
    const seen: string[] = [];
    for await (const each of worker.inbox()) seen.push(each.id);
    expect(seen).toContain(id);
    await worker.reply(id, "yes");
    break;
  }
  expect(await asked).toMatchObject({ from: "api/worker", body: "yes" });
});
