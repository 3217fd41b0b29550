import * as z from "zod/mini";
import { LIST_ROWS_MAX } from "../../limits/index.ts";
import type { DrillResult, FoundRecord, SessionRecord } from "../records/conversation.ts";
import type { LaunchOrder } from "../records/launch.ts";
import type { Restored } from "../records/restored.ts";
import { typeOnly, type CallTable } from "./entry.ts";
import { environment, launch, name, path, projectRef, proof, sessionId, target, text } from "./shapes.ts";

/** The vendors' conversations that workers are in. */
export const conversationCalls = {
  /** Binds a conversation that the vendor has made to the run. The launch is recorded only now that it can be started. */
  bindConversation: {
    params: z.strictObject({ ...proof, session: sessionId, ...launch, fresh: z.optional(z.boolean()) }),
    result: typeOnly<LaunchOrder>(),
    agentsMay: true,
    changes: true,
  },
  adopt: {
    params: z.strictObject({
      target,
      vendor: text(64),
      session: sessionId,
      cwd: path,
      /** The transcript, where it lies elsewhere than the vendor looks for it. */
      transcript: z.optional(path),
      ...environment,
    }),
    result: typeOnly<{ address: string; session: SessionRecord }>(),
    agentsMay: false,
    changes: true,
  },
  /** Puts the copy back that is kept of the worker's own conversation; the vendor's file is set aside. */
  restoreConversation: {
    params: z.strictObject({ target }),
    result: typeOnly<{ address: string; session: SessionRecord; restored: Restored }>(),
    agentsMay: false,
    changes: true,
  },
  fork: {
    params: z.strictObject({ target, to: name }),
    result: typeOnly<{ address: string; from: string; vendor: string; session: string }>(),
    agentsMay: false,
    changes: true,
  },
  /** Lists the conversations of a folder that could be adopted. */
  findConversations: {
    params: z.strictObject({
      vendor: z.nullable(text(64)),
      cwd: path,
      environment: z.record(z.string(), z.string()),
    }),
    result: typeOnly<{ count: number }>(),
    item: typeOnly<FoundRecord>(),
    agentsMay: false,
    changes: false,
  },
  drill: {
    params: z.strictObject({
      here: projectRef,
      project: z.nullable(name),
      all: z.boolean(),
      targets: z.array(target).check(z.maxLength(LIST_ROWS_MAX)),
    }),
    result: typeOnly<{ count: number; broken: number }>(),
    item: typeOnly<DrillResult>(),
    agentsMay: true,
    changes: false,
  },
} as const satisfies CallTable;
