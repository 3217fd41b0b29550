import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { connectToDaemon, type Client } from "../../client/connect.ts";
import { WATCH_POLL_MS, WATCH_SETTLE_MS } from "../../limits/index.ts";
import type { CallParams } from "../../protocol/calls/index.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import { statePaths } from "../../state/paths.ts";

export interface Look {
  /** Lists and shows the workers. */
  readonly look: (client: Client) => Promise<void>;
  /** Called for as long as there is no daemon. */
  readonly lost: () => void;
}

/** Looks after every event, and periodically besides, because an agent that becomes busy or idle is no event. */
export async function followWorkers(params: CallParams<"ls">, { look, lost }: Look): Promise<never> {
  let client = await connectToDaemon();
  for (;;) {
    try {
      await follow(client, params, look);
    } catch (error) {
      if (!isPerdureError(error) || error.code !== "unavailable") throw error;
    } finally {
      client.close();
    }
    client = await reconnect(lost);
  }
}

async function follow(client: Client, params: CallParams<"ls">, look: Look["look"]): Promise<never> {
  let wake: () => void = () => undefined;
  const events = { here: params.here, all: params.all, target: null, after: null, limit: 1, follow: true };
  // An error of the stream is not lost: the next listing throws it as well.
  void client.stream("events", events, () => wake()).catch(() => wake());
  for (;;) {
    const changed = new Promise<void>((resolve) => (wake = resolve));
    await look(client);
    const timer = new AbortController();
    await Promise.race([changed, sleep(WATCH_POLL_MS, null, { signal: timer.signal }).catch(() => null)]);
    timer.abort();
    await sleep(WATCH_SETTLE_MS);
  }
}

/**
 * Waits for a daemon. One that was killed has left its file behind, and is replaced once; no other one is, because watching must not
 * undo `perdure daemon stop`.
 */
async function reconnect(onUnavailable: () => void): Promise<Client> {
  let autostart = existsSync(statePaths(process.env).daemonFile);
  for (;;) {
    const client = await connectToDaemon({ autostart }).catch((error: unknown) => {
      if (isPerdureError(error) && error.code === "unavailable") return null;
      throw error;
    });
    if (client) return client;
    autostart = false;
    onUnavailable();
    await sleep(WATCH_POLL_MS);
  }
}
