import * as z from "zod/mini";
import type { ClaimGrant } from "../records/launch.ts";
import { typeOnly, type CallTable } from "./entry.ts";
import { launch, pid, proof, target, token } from "./shapes.ts";

/** The calls that take a name, keep it and give it back. */
export const leaseCalls = {
  claim: {
    params: z.strictObject({
      target,
      kind: z.enum(["run", "client"]),
      /** Chosen by the claimer: the same claim asked again, after an answer was lost, is the same grant. */
      token,
      pid,
      /** The pid namespace in which the pid counts. A claimer that says so keeps the fifo of its run open. */
      namespace: z.optional(z.string().check(z.maxLength(200))),
      ...launch,
      /** Begins a new conversation, although the worker is in one. */
      fresh: z.boolean(),
      /** Takes the side that another process has written beside the worker; only the operator may. */
      accept: z.optional(z.boolean()),
      /** The worker is retired when this run ends. */
      ephemeral: z.boolean(),
    }),
    result: typeOnly<ClaimGrant>(),
    agentsMay: true,
    changes: true,
  },
  /** Stays open: a library's claim counts as present while it does, and is told when it loses the name. */
  keepalive: {
    params: z.strictObject(proof),
    result: typeOnly<{ held: false }>(),
    /** Sent once, when the run lost its name to somebody. */
    item: typeOnly<{ displacedBy: string }>(),
    agentsMay: true,
    changes: true,
    staysOpen: true,
  },
  release: {
    params: z.strictObject(proof),
    result: typeOnly<{ released: true }>(),
    agentsMay: true,
    changes: true,
  },
} as const satisfies CallTable;
