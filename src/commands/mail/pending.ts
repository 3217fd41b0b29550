import { LIST_ROWS_MAX } from "../../limits/index.ts";
import { ON_THE_WAY, OPERATOR, type MessageRecord } from "../../protocol/records/mail.ts";
import { variableOf } from "../../util/environment.ts";
import { listFromDaemon } from "../shared/call.ts";
import type { Command } from "../shared/command.ts";
import { findProjectHere } from "../shared/here.ts";
import { printable, type Paint } from "../shared/output.ts";
import { age } from "../shared/table/table.ts";
import { listMail, noteIfOnlyPinned, senderRef, mailScope, messageText } from "./mail-common.ts";

export const pending: Command = {
  summary: "list the questions you have not answered, and those of yours that have no answer",
  usage: "",
  details:
    "Your own questions without an answer are listed for the operator, who is you; `perdure mail` lists everybody's.",
  examples: ["perdure pending", "perdure pending --json"],
  words: [0, 0],

  async run({ out }) {
    const found = findProjectHere();
    const scope = mailScope(found);
    const { items } = await listFromDaemon("pending", { ...senderRef(), ...scope });
    const asked = variableOf(process.env, "PERDURE_TOKEN") === null ? await ownQuestions(scope) : [];
    await noteIfOnlyPinned(found, out);
    out.result({ messages: items, asked }, () =>
      [...items.map((each) => messageText(each, out.paint)), ...asked.map((each) => ownLine(each, out.paint))].join(
        "\n",
      ),
    );
    if (items.length > 0) out.note("→ perdure reply ID TEXT");
    else out.note(asked.length === 0 ? "Nobody is waiting for a reply." : "Nobody is waiting for a reply of yours.");
  },
};

/** Lists the operator's questions that nobody has answered yet. */
async function ownQuestions(scope: ReturnType<typeof mailScope>): Promise<MessageRecord[]> {
  const open = { ...scope, states: [...ON_THE_WAY], before: null, limit: LIST_ROWS_MAX };
  const { items } = await listMail(open, true);
  return items.filter(({ from, expectsReply }) => from === OPERATOR && expectsReply);
}

function ownLine({ id, to, state, createdAt, body }: MessageRecord, paint: Paint): string {
  const how = state === "read" ? "has read it" : state;
  const head = `${paint.bold(id)}  you wait for ${printable(to)}  ${paint.dim(`${age(createdAt)} ago, ${how}`)}`;
  return `${head}\n  ${printable(body.split("\n", 1)[0] ?? "")}`;
}
