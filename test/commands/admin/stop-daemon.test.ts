import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { encodeFrame, FrameReader } from "../../../src/protocol/frames.ts";
import { statePaths } from "../../../src/state/paths.ts";
import { Home } from "../../support/home.ts";

test.each(["", "{ half a li", "[]", '{"namespace": 7}'])(
  "`daemon stop` reads a daemon.json that says %j beside a daemon of another version, and does not fail",
  async (text) => {
    const home = new Home();
    const { socket, daemonFile } = statePaths(home.env);
    mkdirSync(dirname(socket), { recursive: true, mode: 0o700 });
    const server = createServer((client) => {
      const frames = new FrameReader();
      client.on("data", (chunk: Buffer) => {
        frames.push(chunk);
        for (let frame = frames.next(); frame; frame = frames.next()) {
          client.write(encodeFrame({ id: 0, error: { code: "version", message: "This daemon is another one." } }));
        }
      });
    }).listen(socket);
    await once(server, "listening");
    writeFileSync(daemonFile, text);
    expect(await home.perdure(["daemon", "stop"])).toMatchObject({ code: 0, stderr: "" });
    server.close();
    await home.clear();
  },
);
