import { existsSync, rmSync, statSync } from "node:fs";
import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { PROTOCOL_VERSION, VERSION } from "../../protocol/version.ts";
import { checkStore } from "../../store/check.ts";
import { schemaVersion } from "../../store/migrate.ts";
import type { CallContext } from "./context.ts";

export async function statusCall(_params: CallParams<"status">, context: CallContext): Promise<CallResults["status"]> {
  const { house } = context;
  const { connections, startedAtMs, storeCheck } = context.stats();
  return {
    running: true,
    pid: process.pid,
    uptimeMs: Math.round(house.monotonicMs() - startedAtMs),
    version: VERSION,
    protocol: PROTOCOL_VERSION,
    socket: house.paths.socket,
    stateDir: house.paths.dir,
    liveRuns: house.watch.size,
    connections,
    rssBytes: process.memoryUsage.rss(),
    store: { schema: schemaVersion(house.db), sqlite: process.versions.sqlite ?? "unknown", check: storeCheck },
  };
}

export async function checkCall(_params: CallParams<"check">, { house }: CallContext): Promise<CallResults["check"]> {
  return checkStore(house.paths.database, "integrity_check");
}

/** A whole, consistent copy while everything goes on. Never over an existing file. */
export async function backupCall(
  { file }: CallParams<"backup">,
  { house }: CallContext,
): Promise<CallResults["backup"]> {
  if (existsSync(file)) {
    throw new PerdureError("conflict", `${file} exists already; a backup never overwrites.`, {
      hint: "choose another file",
    });
  }
  try {
    await house.db.backup(file);
  } catch (cause) {
    rmSync(file, { force: true }); // half a copy would only stand in the way of the next try
    throw new PerdureError(
      "unavailable",
      `The backup to ${file} failed: ${cause instanceof Error ? cause.message : String(cause)}.`,
      {
        hint: "check that its folder exists and has space",
        cause,
      },
    );
  }
  return { file, bytes: statSync(file).size };
}

export async function stopCall(_params: CallParams<"stop">, context: CallContext): Promise<CallResults["stop"]> {
  context.stopDaemon();
  return { pid: process.pid };
}
