import { EVENT_ROWS_DEFAULT, LIST_ROWS_MAX } from "../limits/index.ts";
import type { ProjectRef, Target } from "../protocol/calls/index.ts";
import type { EventRecord } from "../protocol/records/admin.ts";
import type { Link } from "./link.ts";

export interface EventOptions {
  /** Yields only events of this worker. */
  name?: string;
  /** Yields events of every project. */
  all?: boolean;
  /** Yields only events with a higher number; 0 yields all that are kept. By default, the latest 50. */
  after?: number;
  /** Yields later events as they happen, until the caller leaves the loop or closes its connection. */
  follow?: boolean;
}

/**
 * Reads events on a separate connection, which is closed when the reader leaves the loop; closing it ends the stream.
 * @internal
 */
export async function* readEvents(
  link: Link,
  where: { here: ProjectRef; target: Target | null },
  options: EventOptions,
): AsyncGenerator<EventRecord> {
  const client = await link.open();
  const queue: EventRecord[] = [];
  let wake: () => void = () => undefined;
  let outcome: { error?: unknown } | null = null;
  const finish = (result: { error?: unknown }): void => {
    outcome = result;
    wake();
  };
  const params = {
    ...where,
    all: options.all ?? false,
    after: options.after ?? null,
    limit: options.after === undefined ? EVENT_ROWS_DEFAULT : LIST_ROWS_MAX,
    follow: options.follow ?? false,
  };
  const onItem = (event: EventRecord): void => {
    queue.push(event);
    wake();
  };
  client.stream("events", params, onItem).then(
    () => finish({}),
    (error: unknown) => finish({ error }),
  );
  try {
    for (;;) {
      const event = queue.shift();
      if (event) yield event;
      else if (outcome) break;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    const { error } = outcome as { error?: unknown };
    if (error !== undefined && !link.closed) throw error;
  } finally {
    client.close();
  }
}
