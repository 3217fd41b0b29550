import { existsSync, rmSync, statSync } from "node:fs";
import type { CallParams, CallResults } from "../../../protocol/calls/index.ts";
import { PerdureError } from "../../../protocol/errors.ts";
import { PROTOCOL_VERSION, VERSION } from "../../../protocol/version.ts";
import { checkStore } from "../../../store/check.ts";
import { copiedAtMs, storeUid } from "../../../store/meta.ts";
import { schemaVersion } from "../../../store/migrate.ts";
import type { CallContext } from "../context.ts";

export async function statusCall(_params: CallParams<"status">, context: CallContext): Promise<CallResults["status"]> {
  const { services } = context;
  const copiedAt = copiedAtMs(services.db);
  const { connections, startedAtMs, storeCheck, ranSinceBackup } = context.stats();
  return {
    running: true,
    pid: process.pid,
    namespace: services.processes.namespace(),
    host: services.host,
    uptimeMs: Math.round(services.monotonicMs() - startedAtMs),
    version: VERSION,
    protocol: PROTOCOL_VERSION,
    socket: services.paths.socket,
    stateDir: services.paths.dir,
    liveRuns: services.runs.size,
    connections,
    rssBytes: process.memoryUsage.rss(),
    store: {
      uid: storeUid(services.db),
      schema: schemaVersion(services.db),
      sqlite: process.versions.sqlite ?? "unknown",
      check: storeCheck,
      ranSinceBackup,
      copiedAt: copiedAt === null ? null : new Date(copiedAt).toISOString(),
    },
  };
}

export async function checkStoreCall(
  _params: CallParams<"checkStore">,
  { services }: CallContext,
): Promise<CallResults["checkStore"]> {
  return checkStore(services.paths.database, "integrity_check");
}

/** Makes a consistent copy of the store while the daemon serves. Never overwrites a file. */
export async function backupCall(
  { file }: CallParams<"backup">,
  { services }: CallContext,
): Promise<CallResults["backup"]> {
  if (existsSync(file)) {
    throw new PerdureError("conflict", `${file} already exists; a backup never overwrites.`, {
      hint: "choose another file",
    });
  }
  try {
    await services.db.backup(file);
  } catch (cause) {
    rmSync(file, { force: true }); // an incomplete copy would block the next try
    throw new PerdureError(
      "unavailable",
      `The backup to ${file} failed: ${cause instanceof Error ? cause.message : String(cause)}.`,
      {
        hint: "check that the folder exists and has space",
        cause,
      },
    );
  }
  return { file, bytes: statSync(file).size };
}

export async function stopDaemonCall(
  _params: CallParams<"stopDaemon">,
  context: CallContext,
): Promise<CallResults["stopDaemon"]> {
  context.stopDaemon();
  return { pid: process.pid };
}
