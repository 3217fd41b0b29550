import { PROTOCOL_VERSION, VERSION } from "../../protocol/version.ts";
import { writeFileAtomic } from "../../state/files.ts";
import type { Services } from "../services.ts";

/** Writes which process serves, since when and on which socket; for people only, so a failure is logged and ignored. */
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

/** Writes one line to the process that started the daemon and closes the pipe, so that it can report a failed start at once. */
export function reportToStarter(report: Record<string, unknown>): void {
  process.stdout.on("error", () => process.stdout.destroy());
  process.stdout.end(`${JSON.stringify(report)}\n`);
}
