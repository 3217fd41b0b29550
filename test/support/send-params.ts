import type { CallParams, Place } from "../../src/protocol/calls/index.ts";
import { isPerdureError } from "../../src/protocol/errors.ts";
import type { Home } from "./home.ts";

/** The project of a home, as a client stands in it. */
export function projectRefOf(home: Pick<Home, "project">): Place {
  return { identity: home.project, root: home.project, base: "api" };
}

/** One message to one worker, as whoever the connection belongs to unless told. */
export function sendParams(
  home: Pick<Home, "project">,
  to: string,
  body: string,
  more: Partial<CallParams<"send">> = {},
): CallParams<"send"> {
  return {
    as: null,
    nested: false,
    here: projectRefOf(home),
    project: null,
    to: [to],
    all: false,
    body,
    id: null,
    ttlMs: null,
    supersedes: null,
    expectsReply: false,
    attach: [],
    declared: [],
    ...more,
  };
}

/** The daemon is not there, or left before it answered. */
export function isUnavailable(error: unknown): boolean {
  return isPerdureError(error) && error.code === "unavailable";
}

/** For how long a sender was told to wait; null when that is not what it was told. */
export function askedToWaitMs(error: unknown): number | null {
  if (!isPerdureError(error) || error.code !== "too-fast") return null;
  const waitMs = error.details?.waitMs;
  return typeof waitMs === "number" ? waitMs : 1;
}
