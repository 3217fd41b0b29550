import { MAIL_SESSION_FILE, START_MESSAGE_FILE, TAKEN_PREFIX, WAITING_MAIL, WAKE_FILE } from "../shared/hook-script.ts";

/**
 * The part of the extension that hands mail to the model, in the language of the extension. Waiting mail is taken by a rename,
 * which is its receipt, as by the hook script. What it hands over is a message of the extension: it has a user's role, runs no
 * command of pi's, and is on the screen as what it is. A wake that comes while pi works waits for the end of the turn. `handMail`
 * returns what takes a wake.
 */
export const MAIL_SOURCE = `
const mailMessage = (content) => ({ customType: "perdure", content, display: true });
function takeMail(word, ctx, onTaken) {
  try {
    const waiting = folder + "/${WAITING_MAIL}";
    if (!existsSync(waiting + "/" + word)) return null;
    if (readFileSync(waiting + "/${MAIL_SESSION_FILE}", "utf8") !== ctx.sessionManager.getSessionId()) return null;
    const receipt = folder + "/${TAKEN_PREFIX}" + word + "." + process.pid + "." + process.hrtime.bigint();
    renameSync(waiting, receipt);
    onTaken({}, ctx);
    return readFileSync(receipt + "/" + word, "utf8");
  } catch {
    return null;
  }
}
function takeStartMessage() {
  try {
    const text = readFileSync(folder + "/${START_MESSAGE_FILE}", "utf8");
    rmSync(folder + "/${START_MESSAGE_FILE}");
    return text;
  } catch {
    return null;
  }
}
function handMail(pi, onTaken, failed) {
  let prolonged = false;
  pi.on("before_agent_start", (event, ctx) => {
    prolonged = false;
    const texts = [takeStartMessage(), takeMail("prompt", ctx, onTaken)].filter((text) => text !== null);
    return texts.length === 0 ? undefined : { message: mailMessage(texts.join("\\n\\n")) };
  });
  pi.on("tool_result", ({ content, structuredContent, parentToolCallId }, ctx) => {
    const text = parentToolCallId === undefined ? takeMail("tool", ctx, onTaken) : null;
    return text === null ? undefined : { content: [...content, { type: "text", text }], structuredContent };
  });
  pi.on("agent_before_settle", ({ entries }, ctx) => {
    const text = prolonged || failed() ? null : takeMail("stop", ctx, onTaken);
    if (text === null) return undefined;
    prolonged = true;
    return { entries: [...entries, { type: "custom_message", ...mailMessage(text) }], continue: true };
  });
  return (ctx) => {
    try {
      if (!existsSync(folder + "/${WAKE_FILE}")) return;
      const taken = folder + "/.${WAKE_FILE}.taken";
      renameSync(folder + "/${WAKE_FILE}", taken);
      const { session, text } = JSON.parse(readFileSync(taken, "utf8"));
      rmSync(taken);
      if (session !== ctx.sessionManager.getSessionId()) return;
      pi.sendMessage(mailMessage(text), { triggerTurn: true, deliverAs: "followUp" });
    } catch {}
  };
}
`;
