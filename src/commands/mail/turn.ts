import { randomUUID } from "node:crypto";
import { ASK_WAIT_MS, WAIT_HOURS_MAX } from "../../limits/index.ts";
import { parseRecipient } from "../../protocol/names.ts";
import type { Command } from "../shared/command.ts";
import { declaredWorkersHere, findProjectHere, projectOfRun, projectRefHere } from "../shared/here.ts";
import { rawOutput } from "../shared/output.ts";
import { duration } from "../shared/arguments/parse.ts";
import { AskNews, sayAtInterrupt } from "./ask-news.ts";
import { acknowledge, askUntilAnswered } from "./ask-until-answered.ts";
import { attachmentPaths, messageBody, messageIdOption, senderRef } from "./mail-common.ts";

export const turn: Command = {
  summary: "start a worker for one turn, and print its answer",
  usage: "NAME TEXT [options]",
  details: [
    "The agent is started without a terminal, in its own conversation, is told the TEXT, and ends; the last thing it says is the",
    "answer. It may do what its arguments allow: nobody can be asked. A worker that runs is told where it runs, as by",
    "`perdure ask`, and its reply is the answer; one that takes no mail there is waited for. Ctrl-C does not take the TEXT back.",
    'With mode = "turn" in perdure.toml every message does the same by itself (perdure help turns).',
  ].join("\n"),
  examples: ['perdure turn reviewer "is main safe to release?"', "git diff | perdure turn reviewer - --timeout 20m"],
  options: {
    timeout: {
      value: "T",
      about: "how long to wait for the answer, such as 30s or 2h (10m); the turn goes on after that",
    },
    attach: { value: "FILE", multiple: true, about: "send a copy of this file along", completes: "file" },
    file: { value: "FILE", about: "the text is in this file, in place of TEXT", completes: "file" },
    id: { value: "ID", about: "an id of your choice, which makes asking again harmless" },
  },
  completes: ["worker"],
  words: [1, 2],

  async run({ words, values, out }) {
    const found = findProjectHere();
    const { project, name } = parseRecipient(words[0] ?? "");
    const { nested, as } = senderRef();
    const id = messageIdOption(values) ?? randomUUID().slice(0, 13);
    const news = new AskNews(id, words[0] ?? name, out, { found, tools: true });
    const silence = sayAtInterrupt([news], out);
    const { reply } = await askUntilAnswered(
      {
        as,
        nested,
        here: projectRefHere(found),
        project: project ?? projectOfRun(),
        to: name,
        body: messageBody(words[1], values, "turn"),
        id,
        ttlMs: null,
        attach: attachmentPaths(values),
        declared: declaredWorkersHere(found).map((worker) => worker.name),
        waitMs: duration("--timeout", values.timeout, WAIT_HOURS_MAX) ?? ASK_WAIT_MS,
        turn: true,
      },
      news.take,
    ).finally(silence);
    out.result({ id, reply }, () => rawOutput(reply.body));
    await acknowledge(nested, [reply.id]);
  },
};
