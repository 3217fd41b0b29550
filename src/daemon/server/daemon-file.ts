import { rmSync } from "node:fs";
import { PROTOCOL_VERSION, VERSION } from "../../protocol/version.ts";
import { readIfThere, writeFileAtomic } from "../../state/files.ts";
import { parseObject } from "../../util/fields.ts";
import type { Services } from "../services.ts";

/**
 * Writes which process serves, since when and on which socket. People read it, and the wrapper of a headless run, which relies on
 * the first two fields being in front, on one line; a failure costs the wrapper its answer only, and is logged. Returns whether
 * the file was written.
 */
export function writeDaemonFile(services: Services): boolean {
  const { paths, processes } = services;
  const startedAt = processes.inspect(process.pid)?.startedAt ?? null;
  const text = {
    pid: process.pid,
    processStarted: startedAt,
    namespace: processes.namespace(),
    host: services.host,
    socket: paths.socket,
    version: VERSION,
    protocol: PROTOCOL_VERSION,
  };
  try {
    writeFileAtomic(paths.daemonFile, `${JSON.stringify(text)}\n`);
    return true;
  } catch (error) {
    services.log(`daemon.json could not be written: ${String(error)}`);
    return false;
  }
}

/** Removes the file if it is about this daemon; another one may have written it by now. */
export function removeDaemonFile(file: string): void {
  const { pid } = parseObject(readIfThere(file) ?? "") ?? {};
  if (pid === process.pid) rmSync(file, { force: true });
}

/** Writes one line to the process that started the daemon and closes the pipe, so that it can report a failed start at once. */
export function reportToStarter(report: Record<string, unknown>): void {
  process.stdout.on("error", () => process.stdout.destroy());
  process.stdout.end(`${JSON.stringify(report)}\n`);
}
