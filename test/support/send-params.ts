import type { CallParams, ProjectRef } from "../../src/protocol/calls/index.ts";
import { isPerdureError } from "../../src/protocol/errors.ts";
import type { Home } from "./home.ts";

/** The reference to a home's project, as a client in it sends it. */
export function projectRefOf(home: Pick<Home, "project">): ProjectRef {
  return { identity: home.project, root: home.project, base: "api" };
}

/** The parameters of `send` for one message to one worker; the sender is the connection's unless `more.as` says otherwise. */
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

/** Tells whether the daemon is not there, or left before it answered. */
export function isUnavailable(error: unknown): boolean {
  return isPerdureError(error) && error.code === "unavailable";
}

/** The time that a sender was told to wait; null for another error. */
export function askedToWaitMs(error: unknown): number | null {
  if (!isPerdureError(error) || error.code !== "too-fast") return null;
  const waitMs = error.details?.waitMs;
  return typeof waitMs === "number" ? waitMs : 1;
}
