import type { ErrorCode } from "../protocol/errors.ts";
import type { Holder, Transcript } from "../protocol/records/conversation.ts";
import { startCommand } from "../protocol/names.ts";

/** The conversation that a worker is bound to. */
interface Binding {
  vendor: string;
  id: string;
  /** The largest size its transcript was ever seen with; null if no transcript was ever seen. */
  bytes: number | null;
  /** The size was seen in this boot. After a power cut a shorter transcript is no damage: the machine had not written it. */
  sameBoot: boolean;
  /** A prompt was sent in it. */
  prompted: boolean;
  /** A run has been in it. */
  hadRun: boolean;
  /** Custody has an intact copy of it. */
  hasCopy: boolean;
  /** The vendor made it before the start, so that it has a transcript from the beginning. */
  minted: boolean;
}

export interface LaunchInput {
  address: string;
  name: string;
  /** The worker was brought up with its fleet. */
  inPane: boolean;
  /** The vendor of the program to start; null for a program without an adapter. */
  vendor: string | null;
  /** The vendor's program is started for something else than a conversation: `--version`, `mcp list`. */
  noConversation: boolean;
  fresh: boolean;
  binding: Binding | null;
  transcript: Transcript | null;
  holder: Holder | null;
}

export type LaunchDecision =
  | { step: "plain" }
  /** The id is the bound one if it was never used; null if an id has yet to be chosen. */
  | { step: "new"; id: string | null }
  /** `firstTurnPending`: the conversation ended before its first turn, so the first prompt has yet to be sent. */
  | { step: "resume"; id: string; firstTurnPending: boolean }
  | LaunchRefusal;

interface LaunchRefusal {
  step: "refuse";
  code: ErrorCode;
  message: string;
  hint: string;
  /** The cause is the conversation itself, so the next try would be refused, too. */
  permanent: boolean;
}

/** Decides how to start a worker: in its own conversation, in a new one where none was used yet, or not at all. */
export function decideLaunch(input: LaunchInput): LaunchDecision {
  const { binding, vendor } = input;
  if (input.noConversation) return { step: "plain" };
  if (input.fresh || binding === null) return vendor === null ? { step: "plain" } : { step: "new", id: null };
  if (vendor !== binding.vendor) return refuseOtherProgram(input, binding);
  if (input.holder !== null) return refuseOpenElsewhere(input, binding, input.holder);
  return decideByTranscript(input, binding, input.transcript ?? { state: "absent" });
}

function decideByTranscript(input: LaunchInput, binding: Binding, transcript: Transcript): LaunchDecision {
  if (transcript.state === "unseen") {
    return binding.hadRun
      ? { step: "resume", id: binding.id, firstTurnPending: false }
      : { step: "new", id: binding.id };
  }
  if (transcript.state === "absent") {
    const everWritten = binding.bytes !== null || binding.minted;
    return everWritten ? refuseLost(input, binding, "is gone") : { step: "new", id: binding.id };
  }
  if (transcript.state === "empty") {
    // The agent was killed in its first moments: nothing was said, so nothing is lost, but the vendor rejects the used id.
    return binding.bytes === null && !binding.minted && !binding.prompted
      ? { step: "new", id: null }
      : refuseLost(input, binding, `is empty (${transcript.file})`);
  }
  if (transcript.state === "damaged")
    return refuseLost(input, binding, `is damaged: ${transcript.why} (${transcript.file})`);
  const isShorter = binding.bytes !== null && transcript.bytes < binding.bytes;
  if (isShorter && !transcript.shrinks && binding.sameBoot) {
    const sizes = `it had ${binding.bytes} bytes and has ${transcript.bytes}`;
    return refuseLost(input, binding, `was cut short: ${sizes} (${transcript.file})`);
  }
  return { step: "resume", id: binding.id, firstTurnPending: transcript.unsaid === true && !binding.prompted };
}

function refuseLost(
  { address, name, inPane }: LaunchInput,
  { vendor, id, hasCopy }: Binding,
  damage: string,
): LaunchRefusal {
  const restore = hasCopy ? `restore perdure's copy: perdure adopt ${name} --kept` : "put the file back and try again";
  return {
    step: "refuse",
    code: "refused",
    message: `The transcript of ${address}'s ${vendor} conversation ${id} ${damage}.`,
    permanent: true,
    hint: `${restore}; or accept the file as it is: perdure adopt ${name} --vendor ${vendor} --conversation ${id}; or start over: ${startCommand(name, inPane)} --fresh`,
  };
}

function refuseOpenElsewhere(
  { address, name, inPane }: LaunchInput,
  { vendor, id }: Binding,
  holder: Holder,
): LaunchRefusal {
  return {
    step: "refuse",
    code: "refused",
    message: `The ${vendor} conversation ${id} of ${address} is open in another process, pid ${holder.pid} (${holder.evidence}).`,
    permanent: false,
    hint: holder.worker
      ? `perdure takeover ${holder.worker}`
      : `quit it in pid ${holder.pid}, then: ${startCommand(name, inPane)}`,
  };
}

function refuseOtherProgram(
  { address, name, inPane, vendor: requested }: LaunchInput,
  { vendor, id }: Binding,
): LaunchRefusal {
  return {
    step: "refuse",
    code: "refused",
    message: `${address} is in the ${vendor} conversation ${id}, which ${requested ?? "this program"} cannot continue.`,
    permanent: false,
    hint: `choose another name, or abandon that conversation: ${startCommand(name, inPane)} --fresh${inPane ? "" : " -- COMMAND"}`,
  };
}
