import { randomUUID } from "node:crypto";
import { ASK_WAIT_MS, WAIT_HOURS_MAX } from "../../limits/index.ts";
import { isPerdureError, PerdureError } from "../../protocol/errors.ts";
import { parseRecipient } from "../../protocol/names.ts";
import type { Command } from "../shared/command.ts";
import { declaredWorkersHere, findProjectHere, projectOfRun, projectRefHere } from "../shared/here.ts";
import { duration } from "../shared/arguments/parse.ts";
import { rawOutput } from "../shared/output.ts";
import { AskNews, sayAtInterrupt } from "./ask-news.ts";
import { acknowledge, askUntilAnswered } from "./ask-until-answered.ts";
import {
  attachmentPaths,
  noteIfOnlyPinned,
  senderRef,
  messageText,
  messageBody,
  messageIdOption,
} from "./mail-common.ts";

export const askCommand: Command = {
  summary: "send mail to a worker and wait for its reply",
  usage: "NAME[,NAME…] TEXT [options]",
  details: [
    "Waits across restarts of the daemon and of the worker. Without a reply in time it exits 6, and a later reply arrives",
    "in the inbox, as it does after Ctrl-C, which does not take the question back. What it waits for is told on standard",
    "error. Several names are asked at once. A question that can no longer be answered fails with the reason (exit 5).",
    "TEXT `-` is standard input.",
  ].join("\n"),
  examples: ['perdure ask reviewer "is this safe to merge?"', 'perdure ask a,b "are you done?" --timeout 30s'],
  options: {
    timeout: { value: "T", about: "how long to wait for the reply, such as 30s or 2h (10m)" },
    ttl: { value: "T", about: "let the question expire if nobody has read it by then" },
    attach: { value: "FILE", multiple: true, about: "send a copy of this file along", completes: "file" },
    file: { value: "FILE", about: "the text is in this file, in place of TEXT", completes: "file" },
    id: { value: "ID", about: "an id of your choice, which makes asking again harmless" },
  },
  completes: ["recipient"],
  words: [1, 2],

  async run({ words, values, out }) {
    const found = findProjectHere();
    const names = (words[0] ?? "").split(",");
    const waitMs = duration("--timeout", values.timeout, WAIT_HOURS_MAX) ?? ASK_WAIT_MS;
    const body = messageBody(words[1], values, "ask");
    const base = messageIdOption(values) ?? randomUUID().slice(0, 13);
    const declared = declaredWorkersHere(found).map(({ name }) => name);
    await noteIfOnlyPinned(found, out);
    const common = {
      ...senderRef(),
      here: projectRefHere(found),
      body,
      ttlMs: duration("--ttl", values.ttl),
      declared,
      waitMs,
    };
    const questions = names.map((word) => {
      const { project, name } = parseRecipient(word);
      const id = names.length === 1 ? base : `${base}.${name}`;
      const question = { ...common, to: name, project: project ?? projectOfRun(), id, attach: attachmentPaths(values) };
      return { question, news: new AskNews(id, word, out, { found, tools: false }) };
    });
    const asked = questions.map(({ question, news }) => askUntilAnswered(question, news.take));
    const silence = sayAtInterrupt(
      questions.map(({ news }) => news),
      out,
    );
    const outcomes = await Promise.allSettled(asked).finally(silence);
    const answers = outcomes.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    const failed = failureOf(names, outcomes);
    // Replies that arrived are shown even when another worker's failed.
    if (failed !== null && answers.length === 0) throw failed;
    const [only] = answers;
    out.result(answers.length === 1 && only ? only : { answers }, () =>
      answers
        .map(({ reply }) => (answers.length === 1 ? rawOutput(reply.body) : messageText(reply, out.paint)))
        .join("\n"),
    );
    await acknowledge(
      common.nested,
      answers.map(({ reply }) => reply.id),
    );
    if (failed !== null) throw failed;
  },
};

/** Returns what went wrong, with every name where it was more than one question; null if all were answered. */
function failureOf(names: readonly string[], outcomes: readonly PromiseSettledResult<unknown>[]): unknown {
  const failed = outcomes.flatMap((each, at) => {
    return each.status === "rejected" ? [{ name: names[at] ?? "", reason: each.reason as unknown }] : [];
  });
  const [first] = failed;
  if (first === undefined) return null;
  const reasons = failed.flatMap(({ name, reason }) => (isPerdureError(reason) ? [{ name, reason }] : []));
  if (names.length === 1 || reasons.length < failed.length) return first.reason;
  const [{ reason } = { reason: first.reason as PerdureError }] = reasons;
  const lines = reasons.map(({ name, reason: { message } }) => `  ${name}: ${message}`);
  return new PerdureError(
    reason.code,
    [`${failed.length} of ${names.length} questions were not answered.`, ...lines].join("\n"),
    { hint: reason.next, details: { faults: reasons.map((each) => ({ name: each.name, ...each.reason.toJSON() })) } },
  );
}
