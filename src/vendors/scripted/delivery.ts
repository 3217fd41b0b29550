import type { DeliveryFacet } from "../delivery.ts";
import { wakeByFile } from "../shared/wake-file.ts";

/** The scripted agent has no hooks. Idle in a terminal, it takes a text from a file in the run's folder, as a prompt. */
export const scriptedDelivery: DeliveryFacet = {
  hooks: {},
  wake: { name: "inbox file", isPrivileged: false, wake: wakeByFile },
};
