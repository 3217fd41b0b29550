import { userInfo } from "node:os";
import { ANSWER_WAIT_MS, SLOW_NOTICE_MS, TAKEOVER_KILL_WAIT_MS, TAKEOVER_TERM_WAIT_MS } from "../../limits/index.ts";
import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { findProjectHere, startCommandHere, targetOf } from "../shared/here.ts";
import { wholeNumber } from "../shared/arguments/parse.ts";

export const takeover: Command = {
  summary: "stop whoever has a name, wherever it runs, and free the name",
  usage: "NAME [--kill-after SECONDS]",
  details: [
    "From the first moment the old run can change nothing any more. Its terminal says who took over; it gets TERM, later",
    "KILL. Only processes that carry the run in their environment are signalled. A run of another container cannot be",
    "signalled from here: it is fenced, and its name is freed.",
  ].join("\n"),
  examples: [
    "perdure takeover coder",
    "perdure takeover coder && perdure run coder",
    "perdure takeover coder --kill-after 30",
  ],
  options: { "kill-after": { value: "SECONDS", about: "how long to wait between TERM and KILL (5)" } },
  completes: ["worker"],
  words: [1, 1],

  async run({ words, values, out }) {
    const target = targetOf(words[0] ?? "");
    const seconds = wholeNumber("--kill-after", values["kill-after"], { least: 0, most: 600 });
    const killAfterMs = seconds === null ? TAKEOVER_TERM_WAIT_MS : seconds * 1000;
    const by = `operator ${userInfo().username}`;
    const waitMs = killAfterMs + TAKEOVER_KILL_WAIT_MS + ANSWER_WAIT_MS;
    const slow = setTimeout(() => out.note(`Sent TERM; KILL follows after ${killAfterMs / 1000} s…`), SLOW_NOTICE_MS);
    const result = await callDaemon("takeover", { target, by, killAfterMs }, waitMs).finally(() => clearTimeout(slow));
    const name = target.name;
    out.result(result, () => {
      if (result.displaced === null) return `${result.address} was already free`;
      if (result.leftIn)
        return `${result.address} is free; ${result.displaced} is fenced, but it could not be stopped from here.\nIf it still runs, stop it there: in ${result.leftIn}.`;
      return `${result.address} is free; ${result.displaced} was ${result.killed ? "killed" : "stopped"}`;
    });
    if (result.displaced !== null) {
      out.note(`Nothing starts ${name} by itself until you do: ${startCommandHere(findProjectHere(), name)}`);
    }
  },
};
