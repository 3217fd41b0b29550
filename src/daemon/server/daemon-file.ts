import { PROTOCOL_VERSION, VERSION } from "../../protocol/version.ts";
import { writeFileAtomic } from "../../state/files.ts";
import type { Services } from "../services.ts";

/** Who serves, since when, on which socket. For people; nobody needs it to be served. */
export function writeDaemonFile(services: Services): void {
  const { paths, processes } = services;
  const startedAt = processes.inspect(process.pid)?.startedAt ?? null;
  const { socket } = paths;
  const text = { pid: process.pid, processStarted: startedAt, socket, version: VERSION, protocol: PROTOCOL_VERSION };
  try {
    writeFileAtomic(paths.daemonFile, `${JSON.stringify(text)}\n`);
  } catch (error) {
    services.log(`daemon.json could not be written: ${String(error)}`);
  }
}

/** One line to whoever started us, then the pipe is closed: a client can say at once why a start failed. */
export function reportToStarter(report: Record<string, unknown>): void {
  process.stdout.on("error", () => process.stdout.destroy());
  process.stdout.end(`${JSON.stringify(report)}\n`);
}
