import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { FREE_PORT_COUNT, FREE_PORT_FIRST } from "../../src/limits/index.ts";
import { freePort } from "../../src/vendors/shared/free-port.ts";

test("no two requests get the same port, though many ask at once and nobody listens yet", async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, freePort));
  expect(new Set([...ports, await freePort()]).size).toBe(51);
});

test("a port that somebody listens on is skipped", async () => {
  const next = (port: number): number => FREE_PORT_FIRST + ((port - FREE_PORT_FIRST + 101) % FREE_PORT_COUNT);
  const taken = next(await freePort());
  const server = createServer().listen(taken, "127.0.0.1");
  await once(server, "listening");
  expect(await freePort()).not.toBe(taken);
  server.close();
});
