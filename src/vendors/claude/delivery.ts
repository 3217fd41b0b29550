import { connect } from "node:net";
import { join } from "node:path";
import { once } from "node:events";
import { HOOK_TEXT_BYTES_MAX, VENDOR_FILE_BYTES_MAX, WAKE_SOCKET_MS } from "../../limits/index.ts";
import { readIfReadable } from "../../state/bounded-read.ts";
import { fieldsOf, parseObject, textOf } from "../../util/fields.ts";
import type { DeliveryFacet, WakePlace } from "../delivery.ts";
import { composerOf } from "../shared/composer.ts";
import { contextOf } from "../shared/hook-delivery.ts";
import { settingsInUse } from "./settings.ts";

/**
 * Claude's hooks hand text over as the system's, but for the one at the end of a turn. Idle, it takes messages at a socket, and tells
 * its model that they are not its user's. In bypass mode it would hold them back and ask, with a dialog that everybody who can write to
 * the socket could put there: so the socket is left alone then.
 */
export const claudeDelivery: DeliveryFacet = {
  hooks: {
    prompt: { ...contextOf("UserPromptSubmit"), bytesMax: HOOK_TEXT_BYTES_MAX },
    tool: { ...contextOf("PostToolUse"), bytesMax: HOOK_TEXT_BYTES_MAX },
    // A reason to go on would reach the model twice, the second time as the system's.
    stop: { ...contextOf("Stop", false), bytesMax: HOOK_TEXT_BYTES_MAX, prolongs: true },
  },
  wake: {
    name: "inbox socket",
    isPrivileged: false,
    isOpen: (place) => !isBypassing(place),
    wake: async (text, place) => {
      const socket = socketOf(place);
      if (socket === null) return false;
      await writeLine(socket, { type: "user", message: { role: "user", content: text } });
      return true;
    },
  },
  paste: composerOf({
    above: /^─{20,}/,
    below: /^─{20,}/,
    empty: /^❯$/,
    prompt: /^❯ /,
    pasted: (lines) => `\\[Pastedtext#\\d+\\+${lines - 1}lines\\]`,
  }),
  readsMentions: true,
  toldIn: (line) => {
    const { type, attachment } = parseObject(line) ?? {};
    return type === "user" || TOLD_ATTACHMENTS.has(textOf(fieldsOf(attachment).type) ?? "") ? line : "";
  },
};

/** Attachments hold what a hook has added, and what was sent while claude worked, once claude has taken it out of its queue. */
const TOLD_ATTACHMENTS = new Set(["hook_additional_context", "queued_command"]);

function socketOf({ configDir, pid }: WakePlace): string | null {
  if (pid === null) return null;
  const entry = parseObject(readIfReadable(join(configDir, "sessions", `${pid}.json`), VENDOR_FILE_BYTES_MAX));
  return textOf(entry?.messagingSocketPath);
}

function isBypassing({ args, configDir, cwd }: WakePlace): boolean {
  if (args.some((word) => BYPASSING.test(word))) return true;
  return settingsInUse({ args, configDir, cwd }).some(
    ({ settings }) => fieldsOf(settings.permissions).defaultMode === "bypassPermissions",
  );
}

const BYPASSING = /^(?:--(?:allow-)?dangerously-skip-permissions|(?:--permission-mode=)?bypassPermissions)$/;

/**
 * Writes the line, and waits for claude to close the connection. Claude has a line that was written whole even if it is too busy to close
 * in time, so the conversation tells what becomes of it; a line that was not is no line to claude.
 */
async function writeLine(path: string, line: object): Promise<void> {
  const socket = connect({ path });
  let isWritten = false;
  socket.setTimeout(WAKE_SOCKET_MS, () => {
    socket.destroy(isWritten ? undefined : new Error(`${path} did not take the text in time`));
  });
  await once(socket, "connect");
  socket.end(`${JSON.stringify(line)}\n`, () => {
    isWritten = true;
  });
  await once(socket, "close");
}
