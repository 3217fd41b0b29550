import * as z from "zod/mini";
import { FLEET_WORKERS_MAX } from "../../limits/index.ts";
import type { MovedProject, ProjectMove, ProjectSummary } from "../records/admin.ts";
import type { SessionRecord } from "../records/conversation.ts";
import type { RunRecord, TakeoverResult } from "../records/run.ts";
import type { WorkerDetail, WorkerSummary } from "../records/worker.ts";
import { typeOnly, type CallTable } from "./entry.ts";
import { killAfterMs, limit, name, projectRef, target, text, waitMs } from "./shapes.ts";

/** The calls about workers and projects and their names. */
export const nameCalls = {
  ls: {
    params: z.strictObject({ here: projectRef, project: z.nullable(name), all: z.boolean() }),
    /** `moved`: projects whose folder is gone and that are the caller's repository; only where no name is in use yet. */
    result: typeOnly<{ count: number; moved?: MovedProject[] }>(),
    item: typeOnly<WorkerSummary>(),
    agentsMay: true,
    changes: false,
  },
  show: {
    params: z.strictObject({ target }),
    result: typeOnly<WorkerDetail>(),
    agentsMay: true,
    changes: false,
  },
  /** Waits until one of the workers needs somebody, or until all of them are idle or have ended; null means all of the project. */
  wait: {
    params: z.strictObject({
      here: projectRef,
      project: z.nullable(name),
      targets: z.nullable(z.array(target).check(z.minLength(1), z.maxLength(FLEET_WORKERS_MAX))),
      until: z.enum(["needs-me", "idle", "ended"]),
      waitMs,
    }),
    /** The workers that were waited for; `done` is false where the time was over before. */
    result: typeOnly<{ done: boolean; workers: WorkerSummary[] }>(),
    agentsMay: true,
    changes: false,
    staysOpen: true,
  },
  history: {
    params: z.strictObject({ target, limit }),
    result: typeOnly<{ address: string; sessions: SessionRecord[] }>(),
    item: typeOnly<RunRecord>(),
    agentsMay: true,
    changes: false,
  },
  rename: {
    params: z.strictObject({ target, to: name }),
    result: typeOnly<{ address: string; from: string }>(),
    agentsMay: false,
    changes: true,
  },
  retire: {
    params: z.strictObject({ target }),
    /** `dead` counts the messages that will not be read any more; a daemon of before does not tell. */
    result: typeOnly<{ address: string; dead?: number }>(),
    agentsMay: false,
    changes: true,
  },
  takeover: {
    params: z.strictObject({ target, by: text(200), killAfterMs }),
    result: typeOnly<TakeoverResult>(),
    agentsMay: false,
    changes: true,
  },
  /** Says which project a folder is, known or not. */
  showProject: {
    params: z.strictObject({ here: projectRef }),
    result: typeOnly<ProjectSummary>(),
    agentsMay: true,
    changes: false,
  },
  listProjects: {
    params: z.strictObject({}),
    result: typeOnly<{ count: number }>(),
    item: typeOnly<ProjectSummary>(),
    agentsMay: true,
    changes: false,
  },
  moveProject: {
    params: z.strictObject({ here: projectRef, old: text(64 * 1024) }),
    result: typeOnly<ProjectMove>(),
    agentsMay: false,
    changes: true,
  },
} as const satisfies CallTable;
