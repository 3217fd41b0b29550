import { isUtf8 } from "node:buffer";
import { resolve } from "node:path";
import { tokenFor } from "../../client/token.ts";
import type { FoundProject } from "../../project/find.ts";
import { statePaths } from "../../state/paths.ts";
import type { PinnedWorker } from "./pinned.ts";
import { ARGUMENTS_BYTES_MAX, ATTACHMENTS_MAX, MESSAGE_BYTES_MAX } from "../../limits/index.ts";
import type { CallParams } from "../../protocol/calls/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { checkMessageText, MESSAGE_ID, type MailState, type MessageRecord } from "../../protocol/records/mail.ts";
import { shorten } from "../../protocol/names.ts";
import { isBelowService, isNested } from "../../launch/nesting.ts";
import { processTable } from "../../runtime/process/index.ts";
import { NOT_UTF8, readBytesUpTo, readForeignUtf8 } from "../../state/bounded-read.ts";
import type { Collected } from "../../client/connect.ts";
import { daemonClient } from "../shared/call.ts";
import type { Invocation } from "../shared/command.ts";
import { findProjectHere, projectOfRun, projectRefHere } from "../shared/here.ts";
import { printable, type Output, type Paint } from "../shared/output.ts";
import { variableOf } from "../../util/environment.ts";
import { age, size } from "../shared/table/table.ts";
import { shellWords } from "../../util/shell-quote.ts";

// Helpers that the verbs of mail share.

/**
 * Identifies the caller: the worker of the token in the environment, and whether the caller is a nested agent of it. Throws below a
 * vendor's background service, where the token is that of whoever started the service.
 */
export function senderRef(): Pick<CallParams<"send">, "as" | "nested"> {
  const [run, name] = [variableOf(process.env, "PERDURE_RUN"), variableOf(process.env, "PERDURE_NAME")];
  if (run === null) return { as: null, nested: false };
  const table = processTable();
  if (isBelowService(table, process.ppid, run)) throw belowService(name ?? run);
  return { as: null, nested: isNested(table, process.ppid, run) };
}

function belowService(name: string): PerdureError {
  const why = `it was started inside ${shorten(name)}, and serves agents of other folders, too`;
  return new PerdureError("refused", `An agent below its vendor's background service has no worker's name: ${why}.`, {
    hint: "an agent that perdure starts has one: perdure run NAME -- COMMAND",
  });
}

/** Returns the worker that this shell is only pinned to; null for one that acts as a worker, or that nothing pins. */
export async function onlyPinned(found: FoundProject): Promise<PinnedWorker | null> {
  if (tokenFor(process.env, statePaths(process.env).socket) !== null) return null;
  return (await import("./pinned.ts")).pinnedWorker(found);
}

/** Says once that a shell which is only pinned to a worker does not act as it. */
export async function noteIfOnlyPinned(found: FoundProject, out: Output): Promise<void> {
  const pinned = await onlyPinned(found);
  if (pinned !== null) out.note(pinned.note);
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
  return checkMessageId(`${verb}: ID`, id, "perdure mail --state all lists messages with their ids");
}

function checkMessageId(what: string, id: string, hint: string): string {
  if (MESSAGE_ID.test(id)) return id;
  const rule = "1 to 128 letters, digits, and . _ : ~ - in between";
  throw new PerdureError("usage", `${what} is ${JSON.stringify(shorten(id))}; it must be ${rule}.`, { hint });
}

/** Returns the text of a message: the argument, standard input for `-`, or the file of --file. */
export function messageBody(argument: string | undefined, values: Invocation["values"], verb: string): string {
  if (typeof values.file === "string" && argument !== undefined) {
    throw new PerdureError("usage", `${verb}: TEXT and --file cannot be combined.`, {
      hint: "give the text one way; a file that goes along with it: --attach FILE",
    });
  }
  const text = typeof values.file === "string" ? fileText(values.file) : argument === "-" ? stdinText() : argument;
  if (text === "" && argument === "-" && values.file === undefined) {
    throw new PerdureError("usage", `${verb}: standard input was empty, so there is no text.`, {
      hint: `look at what the command before the pipe prints; or perdure ${verb} … TEXT`,
    });
  }
  if (text === undefined || text === "") {
    throw new PerdureError("usage", `${verb}: the text is missing.`, {
      hint: `perdure ${verb} … TEXT, or - for standard input, or --file FILE`,
    });
  }
  if (text === argument) checkArgument(text, verb);
  checkMessageText(text);
  return text;
}

/** Refuses an argument that Node has decoded with losses: its text would not be the one that was typed. */
function checkArgument(text: string, verb: string): void {
  if (!text.includes("\ufffd")) return; // what stands in place of what cannot be decoded
  const found = readForeignUtf8("/proc/self/cmdline", ARGUMENTS_BYTES_MAX);
  if (found !== null && "problem" in found) {
    throw new PerdureError("usage", `${verb}: TEXT is not UTF-8 text.`, { hint: NOT_UTF8_HINT });
  }
}

const NOT_UTF8_HINT = "convert it first (iconv -t UTF-8), or send it as it is: --attach FILE";

function fileText(file: string): string {
  const found = readForeignUtf8(file, MESSAGE_BYTES_MAX);
  if (found !== null && "text" in found) return found.text;
  const problem = found?.problem ?? "cannot be read: it does not exist";
  throw new PerdureError(found === null ? "not-found" : "usage", `${file} ${problem}.`, {
    hint:
      problem === NOT_UTF8
        ? NOT_UTF8_HINT
        : `${shellWords(["ls", "-l", file])}; a long file goes with --attach FILE, a pipe is read as -`,
  });
}

/** Reads standard input without process.stdin, which would change the flags of a shared terminal. */
function stdinText(): string {
  const bytes = readBytesUpTo(0, MESSAGE_BYTES_MAX);
  if (bytes !== null && isUtf8(bytes)) return bytes.toString("utf8");
  if (bytes !== null) throw new PerdureError("usage", "Standard input is not UTF-8 text.", { hint: NOT_UTF8_HINT });
  throw new PerdureError("usage", `The message has more than ${MESSAGE_BYTES_MAX} bytes, which is the limit.`, {
    hint: "send it as a file: --attach FILE",
  });
}

/** Lists the mail of a project in some states; with `unanswered`, also what was read and has no answer. */
export async function listMail(
  params: Omit<CallParams<"listMail">, "states"> & { states: readonly MailState[] },
  unanswered: boolean,
): Promise<Collected<"listMail">> {
  const client = await daemonClient();
  const more = unanswered && !client.isOlder ? { unanswered: true as const } : {};
  return client.collect("listMail", { ...params, states: [...params.states], ...more });
}

export function attachmentPaths(values: Invocation["values"]): string[] {
  const files: unknown[] = Array.isArray(values.attach) ? values.attach : [];
  if (files.length > ATTACHMENTS_MAX) {
    throw new PerdureError("usage", `--attach was given ${files.length} times; the limit is ${ATTACHMENTS_MAX}.`, {
      hint: "put the files into one archive, or send the path of their folder",
    });
  }
  return files.map((file: unknown) => resolve(String(file)));
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
