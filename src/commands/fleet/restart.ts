import { userInfo } from "node:os";
import { RESTART_ANSWER_MS, TAKEOVER_TERM_WAIT_MS } from "../../limits/index.ts";
import { readProjectConfig } from "../../project/config/read.ts";
import type { Target } from "../../protocol/calls/index.ts";
import { isPerdureError } from "../../protocol/errors.ts";
import { shownHint } from "../../protocol/hint.ts";
import type { UpItem } from "../../protocol/records/fleet.ts";
import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { findProjectHere, targetOf } from "../shared/here.ts";
import { printable } from "../shared/output.ts";
import { runCommand } from "../run/run.ts";
import { shortId } from "../shared/table/table.ts";

export const restart: Command = {
  summary: "stop a worker and start it again in its conversation",
  usage: "NAME [--fresh]",
  details: [
    "The running program gets TERM, then KILL. A worker that was brought up starts again in its pane, any other in this",
    "terminal, with its last command and environment: a changed perdure.toml takes effect when a stopped worker is next",
    "brought up.",
  ].join("\n"),
  examples: ["perdure restart coder", "perdure restart coder --fresh"],
  options: { fresh: { about: "begin a new conversation; the old one stays in `perdure history`" } },
  completes: ["worker"],
  words: [1, 1],

  async run(invocation) {
    const { words, values, out } = invocation;
    const target = targetOf(words[0] ?? "");
    const by = `operator ${userInfo().username}, to restart it`;
    const inPane = await restartInPane(target, by, values.fresh === true);
    if (inPane) {
      const session = inPane.session === null ? "" : `, in ${inPane.session.vendor} ${shortId(inPane.session.id)}`;
      const outcome = inPane.outcome === "asleep" ? "sleeps until its mail comes" : `was restarted${session}`;
      out.result(inPane, () => `${inPane.address} ${outcome}`);
      const hint = shownHint(inPane);
      if (inPane.reason !== null) out.note(printable(inPane.reason));
      if (inPane.reason !== null && hint !== null) out.note(printable(`→ ${hint}`));
      return;
    }
    readProjectConfig(findProjectHere()); // throws before a worker is stopped that `run` would refuse to start
    const { address, displaced } = await callDaemon(
      "takeover",
      { target, by, killAfterMs: TAKEOVER_TERM_WAIT_MS },
      RESTART_ANSWER_MS,
    );
    if (displaced !== null) out.note(`perdure: ${address} was stopped (${displaced})`);
    return runCommand.run({ ...invocation, rest: null });
  },
};

/** Restarts a worker in its pane; null for one that was not brought up. */
async function restartInPane(target: Target, by: string, fresh: boolean): Promise<UpItem | null> {
  try {
    return await callDaemon("restart", { target, by, fresh, killAfterMs: TAKEOVER_TERM_WAIT_MS }, RESTART_ANSWER_MS);
  } catch (error) {
    if (isPerdureError(error) && error.details?.notUp === true) return null;
    throw error;
  }
}
