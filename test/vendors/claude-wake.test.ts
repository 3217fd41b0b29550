import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { claude } from "../../src/vendors/claude/index.ts";
import type { WakePlace } from "../../src/vendors/delivery.ts";
import { folder, put } from "./fixtures.ts";

// What these tests wait for is that the time is over; how long it is, is not their business.
vi.mock(import("../../src/limits/index.ts"), async (original) => ({ ...(await original()), WAKE_SOCKET_MS: 1_000 }));

const PID = 4711;

/** Makes a place where claude listens at a socket, behind which is this. */
async function listening(server: Server): Promise<WakePlace> {
  const dir = folder();
  const messagingSocketPath = join(dir, "inbox.sock");
  server.listen(messagingSocketPath);
  await once(server, "listening");
  put(join(dir, "sessions"), `${PID}.json`, JSON.stringify({ messagingSocketPath }));
  const ask = (): Promise<never> => Promise.reject(new Error("not asked"));
  return { runDir: dir, configDir: dir, cwd: dir, session: "s", pid: PID, args: [], program: () => null, ask };
}

/** A server that never closes a connection of its own accord. */
function keepingOpen(onText: (text: string) => void): Server {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.setEncoding("utf8").on("data", onText);
    onTestFinished(() => void socket.destroy());
  });
  onTestFinished(() => void server.close());
  return server;
}

describe("claude's inbox socket", () => {
  test("has got a line that was written, however late claude closes the connection", async () => {
    let told = "";
    const place = await listening(keepingOpen((text) => (told += text)));
    expect(await claude.delivery?.wake?.wake("hello", place, "m")).toBe(true);
    expect(told).toBe(`${JSON.stringify({ type: "user", message: { role: "user", content: "hello" } })}\n`);
  });

  test("has not got a line that claude never takes whole", async () => {
    const server = createServer({ pauseOnConnect: true }, (socket) => onTestFinished(() => void socket.destroy()));
    onTestFinished(() => void server.close());
    const place = await listening(server);
    const long = "x".repeat(8 * 1024 * 1024);
    await expect(claude.delivery?.wake?.wake(long, place, "m")).rejects.toThrow(
      /inbox\.sock did not take the text in time/,
    );
  });
});
