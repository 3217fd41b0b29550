import { ASK_TOOL_WAIT_MS, TOOL_PROGRESS_MS } from "../../../limits/index.ts";
import type { CallParams } from "../../../protocol/calls/index.ts";
import { isPerdureError, PerdureError } from "../../../protocol/errors.ts";
import { parseRecipient } from "../../../protocol/names.ts";
import { objectSchema, textArgument, textField, type Arguments, type Tool, type ToolCall } from "../tool.ts";
import { bodyOf } from "./mail.ts";
import { handOverIfWhole, MARK, MESSAGE, messageOf } from "./messages.ts";
import { declaredNames, ownMail } from "./place.ts";

export const askTool: Tool = {
  name: "ask",
  title: "Ask another agent",
  description:
    "Sends a question to another agent and returns its reply. If none comes within 45 seconds, the status is `waiting`: call again with only the id to go on waiting, or go on with your work; the reply then arrives as mail.",
  readOnly: false,
  input: objectSchema(
    {
      to: textField("A name that `list` shows, `supervisor` or `operator`."),
      text: textField("The question."),
      id: textField("Only to go on waiting: the id of a question that you asked before, without to and text."),
    },
    [],
  ),
  output: objectSchema(
    {
      id: textField("The id of the question."),
      status: { type: "string", enum: ["answered", "waiting"] },
      reply: MESSAGE,
      next: textField("What to do while there is no reply."),
      mark: MARK,
    },
    ["id", "status"],
  ),
  async run(args, call) {
    const question = typeof args.id === "string" ? await asked(args.id, args, call) : newQuestion(args, call);
    const stop = reportProgress(call, question.to);
    try {
      const { id, reply } = await call.dispatch("ask", question);
      return { id, status: "answered", reply: messageOf(reply), ...handOverIfWhole(call, reply) };
    } catch (error) {
      if (!isPerdureError(error) || error.code !== "timed-out") throw error;
      const next = `no reply yet: call ask with only {"id":"${question.id}"} to go on waiting, or go on with your work; the reply then arrives as mail`;
      return { id: question.id, status: "waiting", next };
    } finally {
      stop();
    }
  },
};

function newQuestion(args: Arguments, call: ToolCall): CallParams<"ask"> {
  if (args.to === undefined || args.text === undefined) {
    throw new PerdureError("usage", "ask: to and text are missing.", {
      hint: "give both, or only the id of an earlier question",
    });
  }
  const { project, name } = parseRecipient(textArgument(args, "to"));
  const scope = ownMail(call);
  return {
    ...scope,
    project: project ?? scope.project,
    to: name,
    body: bodyOf(args),
    id: call.messageId,
    ttlMs: null,
    attach: [],
    declared: declaredNames(call),
    waitMs: waitMs(call),
  };
}

/** Returns a question that was asked before, as it was asked, so that the same id is the same question. */
async function asked(id: string, args: Arguments, call: ToolCall): Promise<CallParams<"ask">> {
  if (args.to !== undefined || args.text !== undefined) {
    throw new PerdureError("usage", "ask: an id cannot be combined with to or text.", {
      hint: "without the id it is a new question",
    });
  }
  const { message } = await call.dispatch("showMail", { as: null, nested: call.nested, id });
  return {
    ...ownMail(call),
    to: parseRecipient(message.to).name,
    body: message.body,
    id: message.id,
    ttlMs: null,
    attach: [],
    declared: [],
    waitMs: waitMs(call),
  };
}

/** A call that is asked again, because the daemon was restarted, has been waiting before. */
function waitMs({ ageMs }: ToolCall): number {
  return Math.max(0, ASK_TOOL_WAIT_MS - ageMs);
}

function reportProgress(call: ToolCall, to: string): () => void {
  const timer = setInterval(() => call.progress(`waiting for the reply of ${to}`), TOOL_PROGRESS_MS);
  return () => clearInterval(timer);
}
