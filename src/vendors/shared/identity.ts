import type { Adapter } from "../adapter.ts";
import type { VendorProgram } from "./program.ts";

/** Returns the facts of a vendor whose adapter was proved with the real program, in these versions. */
export function provedProgram(
  { vendor, program }: VendorProgram,
  ...tested: string[]
): Pick<Adapter, "vendor" | "command" | "tested" | "unproved"> {
  return { vendor, command: [program], tested, unproved: null };
}

/** A program that begins a conversation under an id of our choice, a random UUID, and takes what is said first in it. */
export const takesIdAndPrompt: Pick<Adapter["launch"], "identity" | "takesFirstPrompt"> = {
  identity: { kind: "assigned", choose: () => process.getBuiltinModule("node:crypto").randomUUID() },
  takesFirstPrompt: true,
};
