import { fieldsOf, parseObject } from "../../util/fields.ts";
import type { DeliveryFacet, HookDelivery } from "../delivery.ts";
import { fileWake } from "../shared/wake-file.ts";

const MESSAGE: HookDelivery = { print: (text) => text, isPrivileged: false };

/** Pi's extension hands mail over inside pi, as messages of its own, with a user's role. Idle, it is woken by a file in the run's folder. */
export const piDelivery: DeliveryFacet = {
  showsStatusLine: true,
  hooks: { prompt: MESSAGE, tool: MESSAGE, stop: { ...MESSAGE, prolongs: true } },
  wake: fileWake("extension"),
  toldIn: (line) => {
    const { type, message } = parseObject(line) ?? {};
    return type === "custom_message" || fieldsOf(message).role === "toolResult" ? line : "";
  },
};
