import { afterAll, beforeAll, expect, it } from "vitest";
import { connect, type Perdure } from "../../src/index.ts";
import { RECEIVE_WAIT_MS } from "../../src/limits/index.ts";
import { Home } from "../support/home.ts";

let home: Home;
let other: Perdure;
beforeAll(async () => {
  home = new Home();
  other = await connect({ env: home.env, cwd: home.project });
});
afterAll(async () => {
  await other.close();
  await home.clear();
});

/** Reads a stream to its end; resolves to how it ended. */
async function endOf(items: AsyncIterable<unknown>): Promise<"ended"> {
  for await (const item of items) expect(item).toBeDefined();
  return "ended";
}

it("ends every stream when the program closes its connection, and says so to calls that wait", async () => {
  const perdure = await connect({ env: home.env, cwd: home.project });
  const lease = await perdure.claim("waiting");
  const server = await perdure.turns("serving", () => "");
  const streams = [endOf(perdure.receive()), endOf(lease.receive()), endOf(perdure.events({ follow: true }))];
  const calls = [perdure.ask("waiting", "well?"), perdure.ended("waiting", lease.run)].map((call) =>
    call.then(
      () => "an answer",
      (error: unknown) => String(error),
    ),
  );
  await expect.poll(() => home.json(["inbox", "waiting"])).toMatchObject({ messages: [{ body: "well?" }] });
  await perdure.close();
  expect(await Promise.all(streams)).toEqual(["ended", "ended", "ended"]);
  expect(await Promise.all(calls)).toEqual(Array(2).fill("PerdureError: This connection was closed."));
  await server.ended;
  await expect(perdure.start("late", ["true"])).rejects.toMatchObject({ message: "This connection was closed." });
  expect(await home.json(["ls"])).not.toMatchObject({ workers: expect.arrayContaining([{ name: "late" }]) as unknown });
});

it("ends the mail of a lease at once when its name is released, or taken over", async () => {
  const begun = performance.now();
  const released = await other.claim("released");
  const ending = endOf(released.receive());
  await released.release();
  expect(await ending).toBe("ended");

  const lease = await other.claim("displaced");
  const displaced = endOf(lease.receive());
  // It is only fenced: the process that owns it is the test itself.
  expect((await home.perdure(["takeover", "displaced"])).code).toBe(0);
  expect(await displaced).toBe("ended");
  expect(lease.displacedBy).toContain("operator");
  expect(performance.now() - begun).toBeLessThan(RECEIVE_WAIT_MS);
});
