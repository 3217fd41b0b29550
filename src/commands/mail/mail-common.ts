import { resolve } from "node:path";
import { MESSAGE_BYTES_MAX } from "../../limits/index.ts";
import type { CallParams } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { checkMessageBytes, MESSAGE_ID, type MessageRecord } from "../../protocol/records/mail.ts";
import { shorten } from "../../protocol/names.ts";
import { isNested } from "../../launch/nesting.ts";
import { processTable } from "../../runtime/process/index.ts";
import { readForeign, readUpTo } from "../../state/bounded-read.ts";
import type { Invocation } from "../shared/command.ts";
import { findProjectHere, projectOfRun, projectRefHere } from "../shared/here.ts";
import { printable, type Paint } from "../shared/output.ts";
import { age, size } from "../shared/table.ts";

// Helpers that the verbs of mail share.

/** Identifies the caller: the worker of the token in the environment, and whether the caller is a nested agent of it. */
export function senderRef(): Pick<CallParams<"send">, "as" | "nested"> {
  const run = process.env.PERDURE_RUN;
  return { as: null, nested: run !== undefined && run !== "" && isNested(processTable(), process.ppid, run) };
}

/** Refers to the project whose mail is meant. */
export function mailScope(found = findProjectHere()): Pick<CallParams<"pending">, "here" | "project"> {
  return { here: projectRefHere(found), project: projectOfRun() };
}

/** Returns the message's id that --id gives, or another option names; null when it was not given. */
export function messageIdOption(values: Invocation["values"], option = "id"): string | null {
  const value = values[option];
  return typeof value === "string" ? checkMessageId(`--${option}`, value, `--${option} note-1`) : null;
}

/** Returns the id of a message, or its beginning, that an argument names. */
export function messageIdArgument(verb: string, id: string): string {
  return checkMessageId(`${verb}: ID`, id, "perdure inbox --all lists messages with their ids");
}

function checkMessageId(what: string, id: string, hint: string): string {
  if (MESSAGE_ID.test(id)) return id;
  const rule = "1 to 128 letters, digits, and . _ : ~ - in between";
  throw new PerdureError("usage", `${what} is ${JSON.stringify(shorten(id))}; it must be ${rule}.`, { hint });
}

/** Returns the text of a message: the argument, standard input for `-`, or the file of --file. */
export function messageBody(argument: string | undefined, values: Invocation["values"], verb: string): string {
  const text = typeof values.file === "string" ? fileText(values.file) : argument === "-" ? stdinText() : argument;
  if (text === undefined || text === "") {
    throw new PerdureError("usage", `${verb}: the text is missing.`, {
      hint: `perdure ${verb} … TEXT, or - for standard input, or --file FILE`,
    });
  }
  checkMessageBytes(text);
  return text;
}

function fileText(file: string): string {
  const found = readForeign(file, MESSAGE_BYTES_MAX);
  if (found !== null && "text" in found) return found.text;
  const problem = found?.problem ?? "cannot be read: it does not exist";
  throw new PerdureError(found === null ? "not-found" : "usage", `${file} ${problem}.`, {
    hint: `ls -l ${file}; a long file goes with --attach FILE, a pipe is read as -`,
  });
}

/** Reads standard input without process.stdin, which would change the flags of a shared terminal. */
function stdinText(): string {
  const text = readUpTo(0, MESSAGE_BYTES_MAX);
  if (text !== null) return text;
  throw new PerdureError("usage", `The message has more than ${MESSAGE_BYTES_MAX} bytes, which is the limit.`, {
    hint: "send it as a file: --attach FILE",
  });
}

export function attachmentPaths(values: Invocation["values"]): string[] {
  const files: unknown = values.attach;
  return (Array.isArray(files) ? files : []).map((file: unknown) => resolve(String(file)));
}

/** Formats a message for people, with its state if asked for. */
export function messageText(message: MessageRecord, paint: Paint, withState = false): string {
  const expects = message.expectsReply ? paint.yellow("  expects a reply") : "";
  const repliesTo = message.replyTo === null ? "" : paint.dim(`  replies to ${message.replyTo}`);
  const state = withState ? paint.dim(`  ${message.state}`) : "";
  const head = `${paint.bold(message.id)}  from ${printable(message.from)}  ${paint.dim(`${age(message.createdAt)} ago`)}`;
  const body = printable(message.body).replaceAll("\n", "\n  ");
  const files = message.attachments.map(({ name, file, bytes }) => {
    return `\n  ${paint.dim("+")} ${printable(name)} (${size(bytes)}): ${printable(file)}`;
  });
  return `${head}${repliesTo}${expects}${state}\n  ${body}${files.join("")}`;
}
