import { isDeepStrictEqual } from "node:util";
import { LOST_VARIABLES_SHOWN_MAX } from "../../limits/index.ts";
import type { FleetEntry } from "../../protocol/calls/index.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import { hinted, hintOf, verb } from "../../protocol/hint.ts";
import type { UpItem } from "../../protocol/records/fleet.ts";
import { realPath } from "../../state/paths.ts";
import { boundConversation, conversationOfRun } from "../../store/conversations.ts";
import { workerById, type Worker } from "../../store/workers.ts";
import { missingNote } from "../launch/missing-variables.ts";
import type { LaunchServices } from "../launch/services.ts";
import { storedLaunchOf, requireLaunchSpec } from "../launch/spec.ts";
import type { StartedRun } from "./start-in-pane.ts";

/** A note to the caller of `up` about something unexpected of a worker that is up. */
type UpNote = Partial<Pick<UpItem, "reason" | "hint" | "next">>;

/** Notes that the conversation continues in the folder where it began, although the entry now names another. */
export function noteOtherFolder(services: LaunchServices, run: string, { name, cwd }: FleetEntry): UpNote {
  const launchCwd = conversationOfRun(services.db, run)?.launchCwd;
  if (launchCwd === undefined || cwd === null || realPath(launchCwd) === realPath(cwd)) return {};
  const hint = hintOf`${verb("restart", name, "--fresh")} begins one in ${cwd}`;
  return { reason: `its conversation continues in ${launchCwd}`, ...hinted(hint) };
}

/** Notes that the program was started without variables that its own settings name. */
export function noteMissing(session: StartedRun["session"], lacks: StartedRun["lacks"]): UpNote {
  if (session === null || lacks.length === 0) return {};
  const [first] = lacks;
  const hint = `set ${first?.name ?? "it"} in the shell, then bring it down and up again`;
  return { reason: missingNote(session.vendor, lacks), ...hinted(hint) };
}

/**
 * Notes that the terminal of this start lacks variables that an earlier one had given: the last start at a terminal counts, and a shell
 * after a reboot may not have read what the other one had. `before` is the worker as it was until then.
 */
export function noteLostVariables(services: LaunchServices, before: Worker): UpNote {
  const now = workerById(services.db, before.id);
  if (before.environmentScope !== "whole" || now?.environmentScope !== "whole") return {};
  const has = services.environments.of(now);
  const lost = Object.keys(services.environments.of(before)).filter((name) => !(name in has));
  if (lost.length === 0) return {};
  const shown = lost.slice(0, LOST_VARIABLES_SHOWN_MAX).join(", ");
  const names =
    lost.length > LOST_VARIABLES_SHOWN_MAX ? `${shown} and ${lost.length - LOST_VARIABLES_SHOWN_MAX} more` : shown;
  const hint = hintOf`set ${lost.length === 1 ? "it" : "them"} in the shell, then: ${verb("stop", before.name)} && ${verb("up", before.name)}`;
  return { reason: `without ${names}, which it had before and this shell does not have`, ...hinted(hint) };
}

/** Notes that a running worker was left alone, although its entry changed or a fresh start was asked for. */
export function noteLeftRunning(services: LaunchServices, id: number, entry: FleetEntry, fresh: boolean): UpNote {
  const { name, vendor } = entry;
  const old = noteOutdated(services, id, entry, fresh);
  if (old.reason !== undefined || !fresh || vendor === null) return old;
  return { reason: "and stays in its conversation", ...hinted(verb("restart", name, "--fresh")) };
}

function noteOutdated(services: LaunchServices, id: number, entry: FleetEntry, fresh: boolean): UpNote {
  const { name, command, cwd, environment, vendor } = entry;
  const worker = workerById(services.db, id);
  if (worker?.command == null) return {};
  try {
    const now = storedLaunchOf(requireLaunchSpec({ command, cwd, environment, vendor }, worker));
    if (LAUNCH_KEYS.every((key) => isDeepStrictEqual(now[key], worker[key]))) return {};
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    const reason = `and cannot be started as perdure.toml describes it now: ${error.message}`;
    return { reason, ...hinted(error.next) };
  }
  const bound = boundConversation(services.db, worker);
  const freshOption = fresh || (bound !== null && bound.vendor !== (vendor?.name ?? null)) ? ["--fresh"] : [];
  return {
    reason: "as perdure.toml described it before",
    ...hinted(hintOf`${verb("stop", name)} && ${verb("up", name, ...freshOption)}`),
  };
}

/** The fields of a launch that are compared; the environment is not, because it differs from shell to shell. */
const LAUNCH_KEYS = ["command", "cwd", "vendor", "declared"] as const;
