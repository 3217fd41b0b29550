import { connectToDaemon, type Client } from "../../client/connect.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import type { Metric } from "../../protocol/records/metrics.ts";
import type { Command } from "../shared/command.ts";
import { prometheusText } from "./prometheus-text.ts";

export const metrics: Command = {
  summary: "print figures of the daemon and its workers for Prometheus",
  usage: "",
  details: [
    "Workers by state and who needs you, turns, restarts, how runs ended, mail, copies of conversations, and how the daemon is, in",
    "the text format of Prometheus; with --json the same figures. Starts no daemon: without one, perdure_daemon_up is 0.",
    "",
    "What ends in _total, and the histograms, count since the daemon's start.",
  ].join("\n"),
  examples: ["perdure metrics", "perdure metrics > /var/lib/node_exporter/perdure.prom", "perdure metrics --json"],
  words: [0, 0],

  async run({ out }) {
    const client = await connectIfRunning();
    const all = [daemonUp(client !== null), ...(client === null ? [] : await read(client))];
    out.result({ metrics: all }, () => prometheusText(all));
  },
};

/** A scraper asks every few seconds: a daemon that leaves because nothing runs would be started again for nothing. */
async function connectIfRunning(): Promise<Client | null> {
  try {
    return await connectToDaemon({ autostart: false });
  } catch (error) {
    if (isPerdureError(error) && error.code === "unavailable") return null;
    throw error;
  }
}

async function read(client: Client): Promise<Metric[]> {
  const { metrics: found } = await client.call("metrics", {}).finally(() => client.close());
  return found;
}

function daemonUp(isUp: boolean): Metric {
  const name = "perdure_daemon_up";
  const samples = [{ name, labels: {}, value: isUp ? 1 : 0 }];
  return { name, type: "gauge", help: "Whether a daemon runs; it leaves when it has nothing to do.", samples };
}
