import * as z from "zod/mini";
import { ANCHORS_PER_CALL } from "../../limits/index.ts";
import type { CheckResult, DaemonStatus, EventRecord } from "../records/admin.ts";
import type { Metric } from "../records/metrics.ts";
import type { NoticeOutcome } from "../records/needs.ts";
import type { AnchorOwner } from "../records/run.ts";
import { typeOnly, type CallTable } from "./entry.ts";
import { limit, name, path, projectRef, target, text, whole } from "./shapes.ts";

/** The calls about events, context files, the daemon and its store. */
export const adminCalls = {
  events: {
    params: z.strictObject({
      here: projectRef,
      all: z.boolean(),
      target: z.nullable(target),
      after: z.nullable(whole(0, Number.MAX_SAFE_INTEGER)),
      limit,
      follow: z.boolean(),
    }),
    result: typeOnly<{ last: number }>(),
    item: typeOnly<EventRecord>(),
    agentsMay: true,
    changes: false,
  },
  /** Says which runs these context files belong to; a file that belongs to none is left out. */
  findAnchorOwners: {
    params: z.strictObject({
      here: projectRef,
      project: z.nullable(name),
      files: z.array(text(255)).check(z.maxLength(ANCHORS_PER_CALL)),
    }),
    result: typeOnly<{ known: AnchorOwner[] }>(),
    agentsMay: true,
    changes: false,
  },
  /** Says how the daemon is. */
  status: {
    params: z.strictObject({}),
    result: typeOnly<DaemonStatus>(),
    agentsMay: true,
    changes: false,
  },
  /** Gives the figures that people watch over time, as Prometheus wants them. */
  metrics: {
    params: z.strictObject({}),
    result: typeOnly<{ metrics: Metric[] }>(),
    agentsMay: false,
    changes: false,
  },
  /** Sends a test by every channel of the user's `[notify]`. */
  testNotice: {
    params: z.strictObject({ here: projectRef, project: z.nullable(name) }),
    result: typeOnly<{ outcomes: NoticeOutcome[] }>(),
    agentsMay: false,
    changes: false,
  },
  /** Says how the last notices fared: the newest failure of each channel that nothing was sent by since. */
  noticeFailures: {
    params: z.strictObject({}),
    result: typeOnly<{ failures: { channel: string; why: string; at: string }[] }>(),
    agentsMay: false,
    changes: false,
  },
  checkStore: {
    params: z.strictObject({}),
    result: typeOnly<CheckResult>(),
    agentsMay: false,
    changes: false,
  },
  /** Copies the store to a file. */
  backup: {
    params: z.strictObject({ file: path }),
    result: typeOnly<{ file: string; bytes: number }>(),
    agentsMay: false,
    changes: false,
  },
  stopDaemon: {
    params: z.strictObject({}),
    result: typeOnly<{ pid: number }>(),
    agentsMay: false,
    changes: true,
  },
} as const satisfies CallTable;
