import { userInfo } from "node:os";
import { ANSWER_WAIT_MS, TAKEOVER_KILL_WAIT_MS, TAKEOVER_TERM_WAIT_MS } from "../limits.ts";
import { ask } from "./call.ts";
import type { Command } from "./command.ts";
import { targetOf } from "./here.ts";
import { runCommand } from "./run.ts";

export const restart: Command = {
  summary: "stop a worker and start it again, here, in its conversation",
  usage: "NAME [--fresh]",
  details: [
    "The running one is asked to end (TERM, then KILL) and told by whom; then the same command starts in this terminal,",
    "in the same conversation. --fresh begins a new one; the old one stays in the worker's lineage (perdure history).",
  ].join("\n"),
  examples: ["perdure restart coder", "perdure restart coder --fresh"],
  options: { fresh: { type: "boolean" } },
  words: [1, 1],

  async run(invocation) {
    const target = targetOf(invocation.words[0] ?? "");
    const by = `operator ${userInfo().username}, to restart it`;
    const waitMs = TAKEOVER_TERM_WAIT_MS + TAKEOVER_KILL_WAIT_MS + ANSWER_WAIT_MS;
    const { address, displaced } = await ask("takeover", { target, by, killAfterMs: TAKEOVER_TERM_WAIT_MS }, waitMs);
    if (displaced !== null) invocation.out.note(`perdure: ${address} was stopped (${displaced})`);
    return runCommand.run({ ...invocation, rest: null });
  },
};
