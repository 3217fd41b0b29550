import { once } from "node:events";
import { expect, test } from "vitest";
import { Client } from "../../src/client/connect.ts";
import { openPipe } from "../../src/client/pipe-wire.ts";
import { openSocket } from "../../src/client/socket-wire.ts";
import { encodeFrame } from "../../src/protocol/frames.ts";
import { PROTOCOL_VERSION, VERSION } from "../../src/protocol/version.ts";
import { socketServer } from "./socket-server.ts";

// A program that is no daemon of ours may have the socket. An exception in the reader would end the program around the library.

const { path, connection } = socketServer();

const WELCOME = encodeFrame({ id: 0, result: { protocol: PROTOCOL_VERSION, version: VERSION, pid: 1, namespace: "" } });
const GARBAGE: readonly [what: string, bytes: Buffer][] = [
  ["a web server", Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n")],
  ["no JSON", Buffer.from("\0\0\0\x01{")],
  ["a null", encodeFrame(null)],
  ["a list", encodeFrame([1])],
  ["an error that is none", encodeFrame({ id: 1, error: null })],
];

test.each(
  GARBAGE.flatMap(([what, bytes]) => [openPipe, openSocket].map((open) => [what, open.name, bytes, open] as const)),
)("%s in place of an answer, by %s, is an error of the call", async (_what, _name, bytes, open) => {
  for (const isGreeted of [false, true]) {
    const accepted = connection();
    const wire = await open(path);
    if (wire === null) throw new Error("nobody listens");
    const client = new Client(wire);
    const peer = await accepted;
    const greeting = client.greet(null);
    await once(peer, "data");
    if (isGreeted) {
      peer.write(WELCOME);
      await greeting;
    }
    const answer = isGreeted ? client.call("metrics", {}) : greeting;
    peer.write(bytes);
    await expect(answer).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("does not speak"),
    });
    peer.destroy();
  }
});
