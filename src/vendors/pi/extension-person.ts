import {
  PERSON_COMMAND_MS,
  PICKED_MESSAGES_MAX,
  PICKED_PEERS_MAX,
  SHOWN_MESSAGE_CHARS_MAX,
  SHOWN_MESSAGE_LINES_MAX,
} from "../../limits/index.ts";
import { commandText, verb } from "../../protocol/hint.ts";
import { BRIDGE_COMMAND } from "../shared/mcp.ts";
import { STATUS_LINE_FILE } from "../shared/hook-script.ts";

/** The key of our line in pi's footer, our command, and our shortcut: one that neither pi nor pi-intercom (alt+m) has. */
const STATUS_KEY = "perdure";
const COMMAND = "perdure";
const SHORTCUT = "ctrl+alt+w";

/**
 * The part of the extension that serves the person in front of pi, in the language of the extension: a line in the footer, and a command
 * that shows who is there and what came, and writes to a peer. It asks perdure's own commands, which only run when the person asks,
 * and act by the run's token: what the person writes there is sent by the worker. What others wrote is shown without anything that
 * controls a terminal.
 */
export const PERSON_SOURCE = `
const plain = (text) => String(text ?? "").replace(/[\\p{Cc}\\p{Cf}\\p{Cs}\\u2028\\u2029]+/gu, " ").trim();
function beginning({ id, body }) {
  const text = String(body).split("\\n").map(plain).join("\\n");
  const begin = short(text.split("\\n").slice(0, ${SHOWN_MESSAGE_LINES_MAX}).join("\\n"), ${SHOWN_MESSAGE_CHARS_MAX});
  return begin === text ? text : begin + "\\n(all of it: ${commandText(verb("mail"))} " + id + ")";
}
const short = (text, length) => (text.length > length ? text.slice(0, length - 1) + "…" : text);
const counts = ({ unread, unanswered }) => [unread > 0 ? unread + " unread" : "", unanswered > 0 ? unanswered + " to answer" : ""];
function showStatus(ctx) {
  try {
    if (!ctx.hasUI) return;
    let line;
    try {
      const status = JSON.parse(readFileSync(folder + "/${STATUS_LINE_FILE}", "utf8"));
      line = [status.address, ...counts(status)].map(plain).filter(Boolean).join(" · ");
    } catch {}
    ctx.ui.setStatus(${JSON.stringify(STATUS_KEY)}, line);
  } catch {}
}
async function perdure(pi, ctx, ...words) {
  const { stdout, stderr, killed } = await pi.exec(${JSON.stringify(BRIDGE_COMMAND[0])}, words, { cwd: ctx.cwd, timeout: ${PERSON_COMMAND_MS} });
  if (killed) throw new Error("perdure did not answer.");
  let answer;
  try {
    answer = JSON.parse(stdout);
  } catch {
    throw new Error(stderr || "perdure did not answer.");
  }
  const { error } = answer;
  if (error) throw new Error(error.message + (typeof error.hint === "string" ? " (" + error.hint + ")" : ""));
  return answer;
}
// A text may look like an option, and has no business among the arguments of a process, which every user can read.
async function send(pi, ctx, to, text) {
  const draft = folder + "/.written." + process.pid + "." + process.hrtime.bigint();
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
    return await perdure(pi, ctx, "send", to, "--file", draft, "--json");
  } finally {
    rmSync(draft, { force: true });
  }
}
async function write(pi, ctx, self, to, given) {
  const text = given || (await ctx.ui.input("To " + to + ". It is sent by this worker, " + self + ", not by you as the operator.", "message"));
  if (!text || text.trim() === "") return;
  const sent = await send(pi, ctx, to, text);
  ctx.ui.notify("Sent to " + plain(sent.to) + " by " + self + (sent.outlook ? "; delivered " + plain(sent.outlook) : "") + ".", "info");
}
async function readMail(pi, ctx, self) {
  const { messages } = await perdure(pi, ctx, "inbox", "--all", "--limit", "${PICKED_MESSAGES_MAX}", "--json");
  if (messages.length === 0) return ctx.ui.notify("No mail to " + self + " yet.", "info");
  const rows = messages.toReversed().map((each) => plain(each.from) + "  " + each.state + "  " + short(plain(each.body), 60) + "  " + each.id);
  const picked = rows.indexOf(await ctx.ui.select("Mail to " + self + ", newest first", rows));
  const message = messages.toReversed()[picked];
  if (message === undefined) return;
  const from = plain(message.from);
  const writeBack = "Write to " + from;
  const next = await ctx.ui.select("From " + from + ", " + message.state + "\\n\\n" + beginning(message), ["Close", writeBack]);
  if (next === writeBack) await write(pi, ctx, self, from, "");
}
async function openPeers(pi, ctx, args) {
  const { workers } = await perdure(pi, ctx, "ls", "--json");
  const { PERDURE_RUN = "", PERDURE_PROJECT, PERDURE_NAME } = process.env;
  const own = workers.find(({ run }) => (run?.id ?? null) === PERDURE_RUN);
  const self = own?.address ?? PERDURE_PROJECT + "/" + PERDURE_NAME;
  const [, to, text] = /^([A-Za-z0-9@]\\S*)\\s*([^]*)$/.exec(args.trim()) ?? [];
  if (to) return write(pi, ctx, self, to, text.trim());
  const peers = workers.filter((each) => each !== own);
  const shown = peers.slice(0, ${PICKED_PEERS_MAX});
  const width = Math.max(0, ...shown.map(({ address }) => address.length));
  const rows = shown.map((each) => {
    const about = [each.state, each.vendor, ...counts(each), each.about, each.attention].map((text) => short(plain(text), 60)).filter(Boolean);
    return each.address.padEnd(width) + "  " + about.join(" · ");
  });
  const readOwn = "Read the mail of " + self;
  const more = peers.length > shown.length ? "\\n" + (peers.length - shown.length) + " more: /${COMMAND} NAME" : "";
  const nobody = peers.length === 0 ? "\\nNobody else is in this project yet." : "";
  const head = [self, ...(own ? counts(own) : [])].filter(Boolean).join(" · ");
  const picked = await ctx.ui.select(head + "\\nWrite to a peer, as " + self + ":" + nobody + more, [...rows, readOwn]);
  if (picked === readOwn) return readMail(pi, ctx, self);
  const peer = shown[rows.indexOf(picked)];
  if (peer !== undefined) await write(pi, ctx, self, peer.address, "");
}
function servePerson(pi) {
  // Pi counts every dialog as a question of the agent's. This one the person has opened, and nobody waits for it.
  let open = 0;
  const run = async (args, ctx) => {
    open++;
    try {
      if (ctx.hasUI) await openPeers(pi, ctx, args ?? "");
    } catch (error) {
      try {
        ctx.ui.notify("perdure: " + plain(error?.message ?? error), "error");
      } catch {}
    } finally {
      open--;
    }
  };
  // A pi that knows no commands or shortcuts of extensions still gets its mail.
  try {
    pi.registerCommand(${JSON.stringify(COMMAND)}, { description: "Peers and mail of this worker; /${COMMAND} NAME TEXT writes to one", handler: run });
    pi.registerShortcut(${JSON.stringify(SHORTCUT)}, { description: "Peers and mail of this worker (perdure)", handler: (ctx) => run("", ctx) });
  } catch {}
  return () => open > 0;
}
`;
