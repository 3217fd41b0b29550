import type { Fleet } from "../../../project/fleet/read.ts";
import type { CallParams } from "../../../protocol/calls/index.ts";
import { sha256 } from "../../../util/sha256.ts";

/** Returns what the operator agrees to: the text of the file, and hashes of the prompts it refers to. */
export function trustedContent({ text, workers }: Fleet): Pick<CallParams<"up">, "text" | "prompts"> {
  const prompted = workers.filter(({ prompt }) => prompt !== null);
  return {
    text,
    prompts: JSON.stringify(Object.fromEntries(prompted.map(({ name, prompt }) => [name, sha256(prompt ?? "")]))),
  };
}
