import { commandText, shownHint } from "../../protocol/hint.ts";
import { commandForNeed } from "../../protocol/records/needs.ts";
import type { SessionRecord } from "../../protocol/records/conversation.ts";
import type { WorkerDetail } from "../../protocol/records/worker.ts";
import { shellWords } from "../../util/shell-quote.ts";
import { callDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { targetOf } from "../shared/here.ts";
import { printable } from "../shared/output.ts";
import { age } from "../shared/table/table.ts";

export const show: Command = {
  summary: "show everything about one worker",
  usage: "NAME",
  examples: ["perdure show coder", "perdure show api/coder --json"],
  completes: ["worker"],
  words: [1, 1],

  async run({ words, out }) {
    const worker = await callDaemon("show", { target: targetOf(words[0] ?? "") });
    out.result(worker, () => describe(worker));
  },
};

function conversationLine({ id, name, provenance, proved, evidence }: SessionRecord): string {
  const proof = proved === "pending" ? "not verified yet" : `${proved ? "verified" : "wrong"}: ${evidence}`;
  const called = name ? `, called ${JSON.stringify(name)}` : "";
  return `${id}${called}, ${provenance}; ${proof}`;
}

function transcriptLine({ transcript, version }: SessionRecord): string {
  return `${transcript?.file}, ${transcript?.bytes} bytes${version === null ? "" : `, version ${version}`}`;
}

function describe(worker: WorkerDetail): string {
  const last = worker.lastRun;
  const lines: [string, string | null][] = [
    ["state", worker.attention ? `${worker.state} (${worker.attention})` : worker.state],
    ["next", shownHint(worker) ?? neededCommand(worker)],
    ["generation", String(worker.generation)],
    ["run", worker.run ? `${worker.run.id}, pid ${worker.run.pid}, for ${age(worker.run.startedAt)}` : null],
    [
      "last run",
      !worker.run && last ? `${last.id}, ${last.reason}${last.exit === null ? "" : ` (exit ${last.exit})`}` : null,
    ],
    ["command", worker.command && shellWords(worker.command)],
    ["folder", worker.conversation?.launchCwd ?? worker.cwd],
    ["vendor", worker.vendor],
    ["conversation", worker.conversation && conversationLine(worker.conversation)],
    ["transcript", worker.conversation?.transcript ? transcriptLine(worker.conversation) : null],
    ["processes", worker.processes.map(({ pid, command }) => `${pid} ${command}`).join(", ") || null],
    ["environment", environmentLine(worker)],
    ["former names", worker.formerNames.join(", ") || null],
    ["uid", worker.uid ?? null],
    ["created", worker.createdAt],
  ];
  const shown = lines.filter((line): line is [string, string] => line[1] !== null);
  return [worker.address, ...shown.map(([key, value]) => `  ${key.padEnd(14)}${printable(value)}`)].join("\n");
}

function neededCommand(worker: WorkerDetail): string | null {
  const command = commandForNeed(worker, worker.address);
  return command === null || command.verb === "show" ? null : commandText(command);
}

function environmentLine({ environment, environmentScope, environmentLost }: WorkerDetail): string | null {
  if (environmentLost) return "gone: it was recorded apart from the store, and is in no backup";
  if (environment.length === 0) return null;
  return `${environment.length} variables recorded${environmentScope === "whole" ? ", all that a terminal had" : ""}`;
}
