import { PerdureError } from "../../protocol/errors.ts";
import type { SessionLocation } from "../../protocol/records/conversation.ts";
import type { RecordingOff } from "../../vendors/shared/recording.ts";
import { programVariables, type LaunchSpec } from "./spec.ts";

type Place = Pick<SessionLocation, "configDir" | "launchCwd">;

/** Throws if the start would record nothing, by a variable or a setting that is known: it could never be resumed. */
export function assertRecorded(spec: LaunchSpec, place: Place, name: string): void {
  const off = recordingOff(spec, place);
  if (off === null || spec.vendor === null) return;
  throw new PerdureError(
    "refused",
    `${name} could not be resumed later: ${unrecordedBy(spec.vendor.adapter.vendor, off)}.`,
    {
      hint: removalHint(off),
      details: { ...off },
    },
  );
}

/** Returns what would keep the start from recording its conversation; null when nothing does, or there is no conversation. */
export function recordingOff({ vendor, ...spec }: LaunchSpec, { configDir, launchCwd }: Place): RecordingOff | null {
  if (vendor === null || vendor.noConversation) return null;
  const environment = programVariables(spec, vendor.programAt);
  return vendor.adapter.storage.unrecordedBy?.({ args: vendor.args, cwd: launchCwd, configDir, environment }) ?? null;
}

export function unrecordedBy(vendor: string, { setting, place }: RecordingOff): string {
  return `${vendor} records no conversation with ${setting} in ${place}`;
}

export function removalHint({ setting, place }: RecordingOff): string {
  return `remove ${setting} from ${place}, and try again`;
}
