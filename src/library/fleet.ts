import { userInfo } from "node:os";
import { ANSWER_WAIT_MS, KILL_AFTER_MS_MAX, TAKEOVER_KILL_WAIT_MS, TAKEOVER_TERM_WAIT_MS } from "../limits/index.ts";
import type { CallParams } from "../protocol/calls/index.ts";
import { PerdureError } from "../protocol/errors.ts";
import type { DownItem, UpItem, UpResult } from "../protocol/records/fleet.ts";
import type { Link } from "./link.ts";
import type { Surroundings } from "./surroundings.ts";
import { requireMs, requireText, requireTexts } from "./require.ts";
import { callVerb } from "./verb.ts";

export interface FleetOptions {
  /** Only these workers of perdure.toml; all by default. Not together with a saved session, which is of a whole fleet. */
  workers?: readonly string[];
  /** Enters this saved session, which follows the workers from now on. */
  session?: string;
  /** Begins new conversations; the old ones stay in the history. */
  fresh?: boolean;
  /** Agrees to what perdure.toml runs, as `perdure trust` does; without it, an untrusted or changed file is refused. */
  trust?: boolean;
}

export interface ResumeOptions {
  /** Workers that may begin anew where they cannot be resumed; any other refuses the whole fleet. */
  allowFresh?: readonly string[];
  trust?: boolean;
}

export interface StoppingOptions {
  /** How long to wait between TERM and KILL; 5 seconds by default, 10 minutes at most. */
  killAfterMs?: number;
}

/** The workers of a fleet after `up` or `resume`: each with what came of it. */
export interface BroughtUp extends UpResult {
  workers: UpItem[];
}

/** @internal */
export function bringUp(surroundings: Surroundings, options: FleetOptions): Promise<BroughtUp> {
  const { workers = [], session, fresh = false, trust = false } = options;
  return callVerb(surroundings, [
    "up",
    "--json",
    ...(session === undefined ? [] : [`--session=${requireText("the session", session)}`]),
    ...(fresh ? ["--fresh"] : []),
    ...(trust ? ["--yes"] : []),
    ...requireTexts("workers", workers).map((name) => surroundings.target(name).name),
  ]);
}

/** @internal */
export function bringBack(surroundings: Surroundings, session: string, options: ResumeOptions): Promise<BroughtUp> {
  const { allowFresh = [], trust = false } = options;
  const name = requireText("the saved session's name", session);
  const mayBeFresh = requireTexts("allowFresh", allowFresh).map((worker) => `--allow-fresh=${worker}`);
  return callVerb(surroundings, ["up", "--json", `--resume=${name}`, ...mayBeFresh, ...(trust ? ["--yes"] : [])]);
}

/**
 * Stops these workers, or all that were brought up; tells of each what came of it.
 * @internal
 */
export async function stopWorkers(
  link: Link,
  surroundings: Surroundings,
  names: readonly string[] | null,
  options: StoppingOptions,
): Promise<DownItem[]> {
  const client = await link.client();
  const { items } = await client.collect("down", {
    here: surroundings.here,
    project: surroundings.project,
    targets: names === null ? null : requireTexts("workers", names).map((name) => surroundings.target(name)),
    ...stopParams(options),
  });
  return items;
}

/** @internal */
export function stopParams({
  killAfterMs = TAKEOVER_TERM_WAIT_MS,
}: StoppingOptions): Pick<CallParams<"takeover">, "by" | "killAfterMs"> {
  return {
    by: `operator ${userInfo().username}`,
    killAfterMs: requireMs("killAfterMs", killAfterMs, KILL_AFTER_MS_MAX),
  };
}

/**
 * Returns how long the daemon takes to stop a worker at most.
 * @internal
 */
export function stopWaitMs({ killAfterMs = TAKEOVER_TERM_WAIT_MS }: StoppingOptions): number {
  return killAfterMs + TAKEOVER_KILL_WAIT_MS + ANSWER_WAIT_MS;
}

/**
 * Returns what came of stopping one worker; throws if it still runs.
 * @internal
 */
export function onlyStopped(items: readonly DownItem[], name: string): DownItem {
  const [item] = items;
  if (item === undefined) throw new PerdureError("not-found", `There is no worker ${name}.`);
  if (item.outcome !== "failed") return item;
  throw new PerdureError("timed-out", `${item.address} was not stopped: ${item.reason ?? "it still runs"}.`, {
    hint: item.next ?? item.hint,
  });
}
