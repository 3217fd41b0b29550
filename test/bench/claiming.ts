import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect as connectSocket } from "node:net";
import { join } from "node:path";
import { claimWithRetry } from "../../src/client/claim.ts";
import { connectToDaemon } from "../../src/client/connect.ts";
import type { Home } from "../support/home.ts";
import type { Row } from "./report.ts";
import { interleaveAsync, milliseconds, percentile, spreadOf } from "./sampling.ts";

const ROUNDS = 300;

/** A claim is one durable commit: compared with one echo over a unix socket plus one 4 KB write and fdatasync. */
export async function claims(home: Home): Promise<Row[]> {
  const client = await connectToDaemon({ env: home.env });
  const here = { identity: home.project, root: home.project, base: "api" };
  const target = { project: null, name: "bench", here };
  const floor = await echoServer(join(home.dir, "echo.sock"), join(home.dir, "floor"));
  const claimAndRelease = async (): Promise<void> => {
    const claimed = { target, kind: "client" as const, pid: process.pid, command: null, cwd: null, environment: {} };
    const grant = await claimWithRetry(async () => client, {
      ...claimed,
      ephemeral: false,
      vendor: null,
      fresh: false,
    });
    await client.call("release", { run: grant.run, generation: grant.generation, token: grant.token });
  };
  await interleaveAsync(20, [floor.once, claimAndRelease]);
  const [echo = [], both = []] = await interleaveAsync(ROUNDS, [floor.once, claimAndRelease]);
  client.close();
  floor.close();
  const ours = percentile(both, 0.5) / 2;
  const least = percentile(echo, 0.5);
  return [
    {
      what: "claim or release, p50",
      ours: milliseconds(ours),
      floor: `${milliseconds(least)} echo + fdatasync`,
      value: ours / least,
      goal: null,
      spread: spreadOf(echo),
    },
  ];
}

/** In a process of its own, as a daemon is: between two there is a switch, whatever they do. With a file, durable. */
export async function echoServer(
  socketPath: string,
  file: string | null,
): Promise<{ once: () => Promise<void>; close: () => void }> {
  const program = join(import.meta.dirname, "floors", "echo.ts");
  const server = spawn(process.execPath, [program, socketPath, ...(file === null ? [] : [file])], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(server.stdout, "data");
  const socket = connectSocket(socketPath);
  await once(socket, "connect");
  return {
    once: async () => {
      socket.write("x".repeat(200));
      await once(socket, "data");
    },
    close: () => {
      socket.destroy();
      server.kill("SIGKILL");
    },
  };
}
