import { sealEnvelope, type Letter } from "../../src/core/envelope.ts";
import { framesOf } from "../../src/daemon/delivery/paste.ts";
import { pick, whole } from "../support/check.ts";

/** Texts that would end a paste, be a key or be obeyed by a terminal, if it came through; and commands that a shell would run then. */
const PARTS = [
  "\u001b[201~",
  "\u001b[20\u001b[201~1~",
  "\u001b[200~",
  "\u001b\u001b[201~",
  "\u009b201~",
  "\u001b[201~\r",
  "\u001b]52;c;cHduZWQ=\u0007",
  "\u001bP+q544e\u001b\\",
  "\u001b[A\r",
  "\u001b[13~",
  "\u0085",
  "\u0000",
  "\u0003",
  "\u0004",
  "\u0015",
  "\u001a",
  "\u007f",
  "\b\b",
  "\r",
  "\r\n",
  "\n",
  "\t",
  "\u2028",
  "\u202e",
  "!",
  "/clear",
  "@/etc/passwd",
  "#{pid}",
  "$HOME",
  ";",
  "'",
  '"',
  "\\",
  "\u{1F980}",
  "käse",
] as const;

/** Makes the text of a delivery with a hostile body, as the daemon makes it and pastes it; `canary` is the command that nobody may run. */
export function hostileDelivery(random: () => number, canary: string): { body: string; texts: string[] } {
  const body = hostileBody(random, canary);
  const letter: Letter = {
    id: "abcdefghjkmn",
    from: pick(random, ["operator", "api/reviewer", "api/reviewer~nested"]),
    vendor: pick(random, [null, "codex", hostileBody(random, canary)]),
    isOperator: false,
    isFile: false,
    isStranger: false,
    sentAt: "2026-11-18T11:00:00.000Z",
    replyTo: pick(random, [null, hostileBody(random, canary)]),
    expectsReply: random() < 0.5,
    body,
    attachments: random() < 0.2 ? [{ name: hostileBody(random, canary), file: "/x", bytes: 1 }] : [],
    again: random() < 0.5,
    wasAnnounced: false,
  };
  const mark = `m-${whole(random, 2 ** 31).toString(16)}`;
  const { text } = sealEnvelope([letter], {
    to: "api/coder",
    mark,
    isPrivileged: false,
    guardMentions: random() < 0.5,
    bytesMax: 1_000,
    cutsLonger: false,
  });
  return { body, texts: framesOf(text, mark) };
}

/** Several of the parts, with the command in between where a broken frame would run it. */
function hostileBody(random: () => number, canary: string): string {
  const parts = Array.from({ length: 1 + whole(random, 8) }, () => pick(random, PARTS));
  const commands = [`\n${canary}\n`, `\r${canary}\r`, `$(${canary})`, `\`${canary}\``, `!${canary}`, "", ""];
  return parts.flatMap((part) => [part, pick(random, commands)]).join("");
}
