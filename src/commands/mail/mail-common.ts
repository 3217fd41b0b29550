import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { MESSAGE_BYTES_MAX } from "../../limits/index.ts";
import type { CallParams } from "../../protocol/calls/index.ts";
import { asPerdureError, PerdureError } from "../../protocol/errors.ts";
import type { MessageRecord } from "../../protocol/records/mail.ts";
import { isNested } from "../../launch/nesting.ts";
import { processTable } from "../../runtime/process/index.ts";
import type { Invocation } from "../shared/command.ts";
import { findProjectHere, projectOfRun, projectRefHere } from "../shared/here.ts";
import { printable, type Paint } from "../shared/output.ts";
import { age, size } from "../shared/table.ts";

// What the verbs of mail share.

/** Whoever the token in the environment belongs to; an agent inside that worker's agent says so. */
export function senderRef(): Pick<CallParams<"send">, "as" | "nested"> {
  const run = process.env.PERDURE_RUN;
  return { as: null, nested: run !== undefined && run !== "" && isNested(processTable(), process.ppid, run) };
}

export function mailScope(found = findProjectHere()): Pick<CallParams<"pending">, "here" | "project"> {
  return { here: projectRefHere(found), project: projectOfRun() };
}

/** From the command line, `-` for standard input, or a file. */
export function messageBody(word: string | undefined, values: Invocation["values"], verb: string): string {
  const text = typeof values.file === "string" ? fileText(values.file) : word === "-" ? stdinText() : word;
  if (text === undefined || text === "") {
    throw new PerdureError("usage", `${verb}: the text is missing.`, {
      hint: `perdure ${verb} … TEXT, or - for standard input, or --file FILE`,
    });
  }
  const bytes = Buffer.byteLength(text);
  if (bytes <= MESSAGE_BYTES_MAX) return text;
  throw new PerdureError("usage", `The message has ${bytes} bytes; at most ${MESSAGE_BYTES_MAX} are taken.`, {
    hint: "send it as a file: --attach FILE",
  });
}

function fileText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new PerdureError("not-found", `${file} cannot be read: ${asPerdureError(error).message}`, {
      hint: `ls -l ${file}`,
    });
  }
}

/** Not process.stdin, so that nothing is left changed for others who read from it. */
function stdinText(): string {
  return readFileSync(0, "utf8");
}

export function attachmentPaths(values: Invocation["values"]): string[] {
  const files: unknown = values.attach;
  return (Array.isArray(files) ? files : []).map((file: unknown) => resolve(String(file)));
}

/** With its state when it is one among others, and not just handed over. */
export function messageText(message: MessageRecord, paint: Paint, withState = false): string {
  const wants = message.expectsReply ? paint.yellow("  wants an answer") : "";
  const about = message.replyTo === null ? "" : paint.dim(`  answers ${message.replyTo}`);
  const state = withState ? paint.dim(`  ${message.state}`) : "";
  const head = `${paint.bold(message.id)}  from ${printable(message.from)}  ${paint.dim(`${age(message.createdAt)} ago`)}`;
  const body = printable(message.body).replaceAll("\n", "\n  ");
  const files = message.attachments.map(({ name, file, bytes }) => {
    return `\n  ${paint.dim("+")} ${printable(name)} (${size(bytes)}): ${printable(file)}`;
  });
  return `${head}${about}${wants}${state}\n  ${body}${files.join("")}`;
}
