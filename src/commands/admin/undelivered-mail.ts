import type { Client } from "../../client/connect.ts";
import { LIST_ROWS_MAX } from "../../limits/index.ts";
import type { EventRecord } from "../../protocol/records/admin.ts";
import { textOf } from "../../util/fields.ts";
import { projectRefHere } from "../shared/here.ts";

/** Mail of one worker that did not reach its agent and has not reached it since. */
export interface UndeliveredMail {
  worker: string;
  ids: string[];
  /** The last reason. */
  reason: string;
}

/** Finds, among the last events of the project, the workers whose agents could not be handed their mail. */
export async function undeliveredMail(client: Client): Promise<UndeliveredMail[]> {
  const params = { here: projectRefHere(), all: false, target: null, after: null, limit: LIST_ROWS_MAX, follow: false };
  const { items } = await client.collect("events", params);
  const found = new Map<string, UndeliveredMail>();
  for (const event of items) {
    const { worker } = event;
    if (worker === null) continue;
    const { ids = [] } = found.get(worker) ?? {};
    if (event.type === "mail.undelivered") {
      const reason = textOf(event.data.reason) ?? "for a reason that is not known";
      found.set(worker, { worker, ids: [...new Set([...ids, ...idsOf(event)])], reason });
    } else if (SETTLED.has(event.type)) {
      const left = ids.filter((id) => id !== event.data.id);
      found.set(worker, { worker, ids: left, reason: found.get(worker)?.reason ?? "" });
    }
  }
  return [...found.values()].filter(({ ids }) => ids.length > 0);
}

/** The events after which a message waits for no agent any more. */
const SETTLED = new Set(
  ["injected", "read", "answered", "expired", "cancelled", "superseded", "dead"].map((state) => `mail.${state}`),
);

function idsOf({ data }: EventRecord): string[] {
  return Array.isArray(data.ids) ? data.ids.filter((id) => typeof id === "string") : [];
}
