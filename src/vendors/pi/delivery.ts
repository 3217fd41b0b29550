import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fieldsOf, parseObject } from "../../util/fields.ts";
import type { DeliveryFacet, HookDelivery } from "../delivery.ts";
import { WAKE_FILE } from "../shared/hook-script.ts";

const MESSAGE: HookDelivery = { print: (text) => text, isPrivileged: false };

/** Pi's extension hands mail over inside pi, as messages of its own, with a user's role. Idle, it is woken by a file in the run's folder. */
export const piDelivery: DeliveryFacet = {
  showsStatusLine: true,
  hooks: { prompt: MESSAGE, tool: MESSAGE, stop: { ...MESSAGE, prolongs: true } },
  wake: {
    name: "extension",
    isPrivileged: false,
    wake: (text, { runDir, session }) => {
      const draft = join(runDir, `.${WAKE_FILE}`);
      writeFileSync(draft, JSON.stringify({ session, text }), { mode: 0o600 });
      renameSync(draft, join(runDir, WAKE_FILE));
      return Promise.resolve(true);
    },
    // One that nobody has taken must not be left for a pi that is late.
    withdraw: ({ runDir }) => {
      rmSync(join(runDir, WAKE_FILE), { force: true });
      return Promise.resolve();
    },
  },
  toldIn: (line) => {
    const { type, message } = parseObject(line) ?? {};
    return type === "custom_message" || fieldsOf(message).role === "toolResult" ? line : "";
  },
};
