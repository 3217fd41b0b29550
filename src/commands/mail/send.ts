import { declaredWorkers } from "../../project/fleet/names.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { parseRecipient } from "../../protocol/names.ts";
import type { Admitted } from "../../protocol/records/mail.ts";
import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { declaredWorkersHere, findProjectHere, projectOfRun, projectRefHere } from "../shared/here.ts";
import { duration } from "../shared/arguments/parse.ts";
import { printable } from "../shared/output.ts";
import { arrow, staysText } from "./ask-news.ts";
import { attachmentPaths, noteIfOnlyPinned, senderRef, messageBody, messageIdOption } from "./mail-common.ts";

export const send: Command = {
  summary: "send mail to a worker, running or not",
  usage: "NAME TEXT [options]",
  details: [
    "Exit 0 means that the message is on disk. NAME is a worker, `operator` (you), `supervisor` (the worker or person that",
    "started the caller) or `@all`; it is left out with --group. TEXT is one argument, so quote it; `-` is standard input.",
  ].join("\n"),
  examples: [
    'perdure send coder "the build is red"',
    "git diff | perdure send reviewer -",
    'perdure send @all "pull before you go on" --ttl 1h',
  ],
  options: {
    attach: { value: "FILE", multiple: true, about: "send a copy of this file along", completes: "file" },
    file: { value: "FILE", about: "the text is in this file, in place of TEXT", completes: "file" },
    group: { value: "G", about: "to every worker of this group in perdure.toml, in place of NAME" },
    ttl: { value: "T", about: "let it expire if nobody has read it by then, such as 10m" },
    "expects-reply": { about: "list it in the reader's `perdure pending` until it is answered" },
    supersedes: { value: "ID", about: "it stands for this earlier message of yours, if nobody has read that" },
    id: {
      value: "ID",
      about: "an id of your choice: the same text under it is sent once, another text is a conflict (exit 4)",
    },
  },
  completes: ["recipient"],
  words: [0, 2],

  async run({ words, values, out }) {
    const found = findProjectHere();
    const here = projectRefHere(found);
    const group = typeof values.group === "string" ? values.group : null;
    const [first, second] = group === null ? words : [undefined, ...words];
    if (first === undefined && group === null) {
      throw new PerdureError("usage", "send: NAME is missing.", {
        hint: "perdure send NAME TEXT; perdure ls lists who can be mailed",
      });
    }
    const declared = declaredWorkersHere(found);
    const to = group === null ? null : membersOf(group, declaredWorkers(found));
    const toAll = first === "@all";
    const { project, name } = first !== undefined && !toAll ? parseRecipient(first) : { project: null, name: "" };
    const { messages } = await callDaemon("send", {
      ...senderRef(),
      here,
      project: project ?? projectOfRun(),
      to: to ?? (toAll ? [] : [name]),
      all: toAll,
      body: messageBody(second, values, "send"),
      id: messageIdOption(values),
      ttlMs: duration("--ttl", values.ttl),
      supersedes: messageIdOption(values, "supersedes"),
      expectsReply: values["expects-reply"] === true,
      attach: attachmentPaths(values),
      declared: declared.map((each) => each.name),
    });
    await noteIfOnlyPinned(found, out);
    const [only] = messages;
    out.result(messages.length === 1 && only ? only : { messages }, () => {
      return messages.map(receiptLine).join("\n");
    });
    for (const { renamedFrom, to: address, need } of messages) {
      if (need) out.note(printable(`${staysText(address, need.state, need.reason)}${arrow(need.next)}`));
      if (renamedFrom !== null) out.note(`${renamedFrom} is now ${address}`);
    }
  },
};

/** Says what the message is called, and what will become of it. */
function receiptLine({ id, to, state, outlook, need }: Admitted): string {
  if (need) return `${id}  ${to}  ${state}`;
  return `${id}  ${to}  ${state}${outlook ? `, delivered ${outlook}` : ""}`;
}

function membersOf(group: string, declared: { name: string; group: string | null }[]): string[] {
  const members = declared.filter((each) => each.group === group).map(({ name }) => name);
  if (members.length > 0) return members;
  const groups = [...new Set(declared.flatMap((each) => each.group ?? []))];
  throw new PerdureError("not-found", `No worker in perdure.toml has the group ${JSON.stringify(group)}.`, {
    hint: groups.length > 0 ? `there are: ${groups.join(", ")}` : 'group = "…" below [workers.NAME]',
  });
}
