import { LAST_MESSAGES, WAKE_SERVER_MS } from "../../limits/index.ts";
import { fieldsOf, textOf } from "../../util/fields.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { LAUNCH, type DeliveryFacet, type WakePlace } from "../delivery.ts";
import { serverAddressIn } from "./listen.ts";
import { withServer } from "./mint.ts";
import { OpencodeServer } from "./server.ts";

/**
 * opencode's own server takes a text for a conversation, as its user's: idle, it begins a turn; at work, it goes on to it after the step.
 * It is asked, too, whether the conversation shows the text. Without a terminal there is no such server: one that is started just for that
 * adds the text to the conversation, without an answer, before the program does.
 */
export const opencodeDelivery: DeliveryFacet = {
  hooks: { [LAUNCH]: { print: (text) => text, isPrivileged: false, headlessOnly: true } },
  wake: {
    name: "server",
    isPrivileged: false,
    queues: true,
    isAddressed: true,
    isOpen: ({ runDir }) => serverAddressIn(runDir) !== null,
    wake: async (text, place) => {
      const server = serverOf(place);
      if (server === null) return false;
      const body = { parts: [{ type: "text", text }], ...(await lastChoice(server, place.session)) };
      await server.call("POST", `/session/${place.session}/prompt_async`, body).catch((error: unknown) => {
        // It said no. Without any answer it may have taken the text all the same: the conversation will show.
        if (error instanceof PerdureError) throw error;
      });
      return true;
    },
  },
  deposit: async (text, { session, ask, ...context }) => {
    await withServer(context, async (server) => {
      const body = { parts: [{ type: "text", text }], noReply: true, ...(await lastChoice(server, session)) };
      await server.call("POST", `/session/${session}/message`, body);
    });
    const { code, stdout, stderr } = await ask(["export", session]);
    if (code === 0) return Buffer.byteLength(stdout);
    throw new PerdureError(
      "unavailable",
      `opencode did not print the conversation after mail was put into it: ${stderr}`,
    );
  },
  shows: async (mark, place) => {
    const messages = await serverOf(place)?.lastMessages(place.session, LAST_MESSAGES);
    return messages !== undefined && JSON.stringify(messages).includes(mark);
  },
};

function serverOf({ runDir }: Pick<WakePlace, "runDir">): OpencodeServer | null {
  const address = serverAddressIn(runDir);
  return address && new OpencodeServer(address, AbortSignal.timeout(WAKE_SERVER_MS));
}

/** Returns what the user has chosen for the last turn: another agent of opencode's may be allowed more than that one. */
async function lastChoice(server: OpencodeServer, session: string): Promise<object> {
  const messages = await server.lastMessages(session, LAST_MESSAGES);
  const infos = messages.map((message) => fieldsOf(fieldsOf(message).info));
  const last = infos.findLast(({ role }) => role === "user") ?? infos.at(-1) ?? {};
  const { providerID, modelID } = { ...last, ...fieldsOf(last.model) };
  const agent = textOf(last.agent) ?? textOf(last.mode);
  const variant = textOf(last.variant) ?? textOf(fieldsOf(last.model).variant);
  return {
    ...(agent === null ? {} : { agent }),
    ...(textOf(providerID) === null || textOf(modelID) === null ? {} : { model: { providerID, modelID } }),
    ...(variant === null ? {} : { variant }),
  };
}
