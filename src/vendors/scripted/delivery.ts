import type { DeliveryFacet } from "../delivery.ts";
import { fileWake } from "../shared/wake-file.ts";

/** The scripted agent has no hooks. Idle in a terminal, it takes a text from a file in the run's folder, as a prompt. */
export const scriptedDelivery: DeliveryFacet = {
  hooks: {},
  wake: fileWake("inbox file"),
};
