import { connectToDaemon } from "../../client/connect.ts";
import { EXTRA_WAIT_MS, RECONNECT_MS } from "../../limits/index.ts";
import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import type { AskProgress } from "../../protocol/records/mail.ts";

/**
 * Asks, and asks again under the same id after the daemon was restarted, which continues to wait for the same reply. The daemon tells
 * the listener what becomes of the question meanwhile; one of before does not.
 */
export async function askUntilAnswered(
  params: CallParams<"ask">,
  onProgress: (progress: AskProgress) => void,
): Promise<CallResults["ask"]> {
  const deadline = performance.now() + params.waitMs;
  for (;;) {
    const leftMs = Math.max(0, Math.round(deadline - performance.now()));
    try {
      const client = await connectToDaemon();
      const asked = { ...params, waitMs: leftMs };
      const answer = client.isOlder
        ? client.call("ask", asked, leftMs + EXTRA_WAIT_MS)
        : client.stream("ask", { ...asked, progress: true }, onProgress);
      return await answer.finally(() => client.close());
    } catch (error) {
      if (!isPerdureError(error) || error.code !== "unavailable" || leftMs === 0) throw withId(error, params.id);
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
    }
  }
}

/** Acknowledges replies after they were shown. An unacknowledged reply arrives in the inbox as well, so a failure is harmless. */
export async function acknowledge(nested: boolean, ids: string[]): Promise<void> {
  if (nested) return;
  try {
    const client = await connectToDaemon({ autostart: false });
    await client.call("ack", { as: null, nested, ids, how: "read" }).finally(() => client.close());
  } catch (error) {
    if (!isPerdureError(error)) throw error;
  }
}

function withId(error: unknown, id: string): unknown {
  if (!isPerdureError(error) || error.code !== "unavailable") return error;
  return new PerdureError(error.code, error.message, { hint: `perdure mail ${id}`, cause: error });
}
