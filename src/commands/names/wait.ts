import { connectToDaemon } from "../../client/connect.ts";
import { EXTRA_WAIT_MS, RECONNECT_MS, WAIT_MS_MAX } from "../../limits/index.ts";
import type { CallParams, CallResults } from "../../protocol/calls/index.ts";
import { exitCodeOf, isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { attentionItems, attentionText } from "../shared/table/attention-list.ts";
import type { Command } from "../shared/command.ts";
import { projectOfRun, projectRefHere, targetOf } from "../shared/here.ts";
import { duration } from "../shared/arguments/parse.ts";

export const wait: Command = {
  summary: "wait until a worker needs you, is idle or has ended",
  usage: "[NAME…] [--needs-me | --idle | --ended] [options]",
  details: [
    "Without names, all workers of the project count. Exit 6 when --timeout is over, and 4 when a worker that was to become",
    "idle ends, or waits for an answer of yours. A program that does not tell what it does never counts as idle.",
  ].join("\n"),
  examples: ["perdure wait && notify-send perdure", "perdure wait coder --idle --timeout 10m", "perdure wait --ended"],
  options: {
    "needs-me": { about: "until one of them needs somebody; this is what is waited for by default" },
    idle: { about: "until all of them have nothing to do" },
    ended: { about: "until all of them have ended" },
    timeout: { value: "T", about: "how long to wait: 30s, 10m, 2h; for ever if left out" },
  },
  completes: ["worker"],
  words: [0, Infinity],

  async run({ words, values, out }) {
    const given = (["needs-me", "idle", "ended"] as const).filter((name) => values[name] === true);
    if (given.length > 1)
      throw new PerdureError("usage", `--${given.join(" and --")} cannot be combined.`, {
        hint: "perdure wait --help",
      });
    const here = projectRefHere();
    const until = given[0] ?? "needs-me";
    const targets = words.length === 0 ? null : words.map((word) => targetOf(word, here));
    const timeoutMs = duration("--timeout", values.timeout);
    const { done, workers } = await waitAcrossDaemons({ here, project: projectOfRun(), targets, until }, timeoutMs);
    out.result({ done, until, workers }, () => {
      if (done && until === "needs-me") return attentionText(attentionItems(workers), out.paint, out.columns);
      return workers.map(({ address, state }) => `${address} ${state}`).join("\n");
    });
    if (!done) out.note(`${NOT_YET[until]} within ${withUnit(String(values.timeout))}.`);
    return done ? 0 : exitCodeOf("timed-out");
  },
};

const NOT_YET = {
  "needs-me": "Nobody needed you",
  idle: "Not all of them were idle",
  ended: "Not all of them ended",
} as const;

/** A bare number is seconds. */
function withUnit(time: string): string {
  return /^[0-9]+$/.test(time) ? `${time}s` : time;
}

/**
 * Waits, and waits on when the daemon was replaced meanwhile, or when it has waited as long as it does at a time. Only the first call
 * starts a daemon: waiting must not undo `perdure daemon stop`.
 */
async function waitAcrossDaemons(
  params: Omit<CallParams<"wait">, "waitMs">,
  timeoutMs: number | null,
): Promise<CallResults["wait"]> {
  const deadline = timeoutMs === null ? Infinity : performance.now() + timeoutMs;
  for (let autostart = true; ; autostart = false) {
    const waitMs = Math.round(Math.min(WAIT_MS_MAX, Math.max(0, deadline - performance.now())));
    try {
      const client = await connectToDaemon({ autostart });
      const answer = await client
        .call("wait", { ...params, waitMs }, waitMs + EXTRA_WAIT_MS)
        .finally(() => client.close());
      if (answer.done || performance.now() >= deadline) return answer;
    } catch (error) {
      if (!isPerdureError(error) || error.code !== "unavailable" || performance.now() >= deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS));
    }
  }
}
