import { execFile } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { openPipe } from "../../src/client/pipe-wire.ts";
import { openSocket } from "../../src/client/socket-wire.ts";
import type { OpenWire, Wire } from "../../src/client/wire.ts";
import { socketServer } from "./socket-server.ts";

const WIRES: readonly [name: string, open: OpenWire][] = [
  ["the pipe", openPipe],
  ["Node's socket", openSocket],
];
const { path, connection } = socketServer();

/** Opens a connection, and returns both of its ends, with what has come at ours. */
async function connected(
  open: OpenWire,
): Promise<{ wire: Wire; peer: Socket; heard: Buffer[]; closed: Promise<void> }> {
  const accepted = connection();
  const wire = await open(path);
  if (wire === null) throw new Error("nobody listens");
  const heard: Buffer[] = [];
  const { promise: closed, resolve: onClose } = Promise.withResolvers<void>();
  wire.listen((chunk) => heard.push(Buffer.from(chunk)), onClose);
  return { wire, peer: await accepted, heard, closed };
}

test.each(WIRES)("%s takes more than a kernel's buffer at once, in order", async (_, open) => {
  const { wire, peer, heard, closed } = await connected(open);
  const sent = Buffer.from(Array.from({ length: 1_000_000 }, (_byte, at) => at % 251));
  wire.write(sent.subarray(0, 10));
  wire.write(sent.subarray(10));
  const came: Buffer[] = [];
  peer.on("data", (chunk: Buffer) => came.push(chunk));
  while (came.reduce((sum, { length }) => sum + length, 0) < sent.length) await once(peer, "data");
  peer.end(sent);
  await closed;
  expect(Buffer.concat(came).equals(sent)).toBe(true);
  expect(Buffer.concat(heard).equals(sent)).toBe(true);
  expect(wire.isOpen).toBe(false);
});

test.each(WIRES)("%s tells that its peer is gone, and takes nothing from then on", async (_, open) => {
  const { wire, peer, closed } = await connected(open);
  peer.destroy();
  wire.write(Buffer.from("too late"));
  await closed;
  wire.write(Buffer.from("later still"));
  expect(wire.isOpen).toBe(false);
});

test.each(WIRES)("%s can be closed twice, and says once that it is closed", async (_, open) => {
  const { wire, peer, closed } = await connected(open);
  wire.close();
  wire.close();
  expect(wire.isOpen).toBe(false);
  peer.resume();
  await Promise.all([closed, once(peer, "close")]);
});

test.each(WIRES)("%s finds nobody where no socket is, or one that nobody serves", async (_, open) => {
  expect(await open(join(dirname(path), "none"))).toBeNull();
  expect(await open(join(path, "below"))).toBeNull();
});

test.each(WIRES)("%s tells what is wrong with a path that no socket can have", async (_, open) => {
  await expect(open(join(dirname(path), "x".repeat(200)))).rejects.toThrow(/EINVAL|ENAMETOOLONG/);
});

const OPEN_ONE = `
  const { openPipe } = await import(${JSON.stringify(resolve(import.meta.dirname, "../../src/client/pipe-wire.ts"))});
  const wire = await openPipe(${JSON.stringify(path)});
  console.log(wire.constructor.name);
  wire.close();`;

test.each([
  ["without Node's sockets", [], "PipeWire"],
  ["and Node says nothing about it", ["--pending-deprecation"], "PipeWire"],
  ["by Node's sockets where Node keeps its pipes to itself", ["--permission", "--allow-fs-read=*"], "SocketWire"],
])("a connection is made %s", async (_, flags, kind) => {
  const words = [...flags, "--input-type=module", "-e", OPEN_ONE];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, words);
  expect({ stdout, stderr }).toEqual({ stdout: `${kind}\n`, stderr: "" });
});
