import { randomUUID } from "node:crypto";
import { HOOK_TEXT_BYTES_MAX, PIECE_UNSEEN_QUEUED_MS } from "../../limits/index.ts";
import { fieldsOf, parseObject, textOf } from "../../util/fields.ts";
import type { DeliveryFacet, WakePlace } from "../delivery.ts";
import { blockOf, contextOf } from "../shared/hook-delivery.ts";
import { askAppServer, type AppServerClient } from "./app-server.ts";

/**
 * Codex's hooks hand text over as the developer's, but for the one at the end of a turn. Idle, it looks every ten seconds into a
 * queue of its own, and takes what is there as its user's words. The queue is on disk and outlives the process.
 */
export const codexDelivery: DeliveryFacet = {
  hooks: {
    prompt: contextOf("UserPromptSubmit"),
    tool: contextOf("PostToolUse"),
    stop: { ...blockOf("block"), bytesMax: HOOK_TEXT_BYTES_MAX },
  },
  wake: {
    name: "queue",
    isPrivileged: false,
    nudges: true,
    isAddressed: true,
    takesMs: PIECE_UNSEEN_QUEUED_MS,
    wake: async (text, place) => {
      await askQueue(place, (server) =>
        server.call("thread/queue/add", {
          threadId: place.session,
          input: [{ type: "text", text, text_elements: [] }],
          clientUserMessageId: `${OURS}${randomUUID()}`,
        }),
      );
      return true;
    },
    withdraw: (place) => askQueue(place, (server) => clearQueue(server, place.session)),
  },
  toldIn: (line) => {
    const { type, payload } = parseObject(line) ?? {};
    return type === "response_item" && fieldsOf(payload).role !== "assistant" ? line : "";
  },
};

/** The beginning of the ids that mark what we have put into a queue. */
const OURS = "perdure-";

/** Talks to the app-server, which takes a text by its stdin: `codex queue` would show it on its command line. */
async function askQueue<T>(place: WakePlace, ask: (server: AppServerClient) => Promise<T>): Promise<T> {
  const program = place.program();
  if (program === null) throw new Error("the program can no longer be found");
  return askAppServer({ ...program, args: [] }, `use the queue of ${place.session}`, ask);
}

/** Removes what we have put into the queue, and nothing of the user's. */
async function clearQueue(server: AppServerClient, threadId: string): Promise<void> {
  const { data } = await server.call("thread/queue/list", { threadId });
  const ours = (Array.isArray(data) ? data : []).map(fieldsOf).filter(({ clientUserMessageId }) => {
    return textOf(clientUserMessageId)?.startsWith(OURS) === true;
  });
  for (const { id } of ours) await server.call("thread/queue/delete", { threadId, queuedSubmissionId: id });
}
