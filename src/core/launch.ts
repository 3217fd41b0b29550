import type { ErrorCode } from "../protocol/errors.ts";
import type { Holder, Transcript } from "../protocol/records/conversation.ts";
import { startCommand } from "../protocol/names.ts";

/** What a worker is bound to. */
interface Binding {
  vendor: string;
  id: string;
  /** The most its transcript was ever seen to have; null if none was ever seen. */
  bytes: number | null;
  /** In this boot: what a machine had not written when its power went is lost, and is no damage. */
  sameBoot: boolean;
  /** Something was said in it. */
  prompted: boolean;
  /** A run was in it. */
  begun: boolean;
  /** A copy of it is kept, and whole. */
  kept: boolean;
  /** Made by the vendor before the start, so that it has a transcript from the beginning. */
  writtenAtBirth: boolean;
}

export interface LaunchQuestion {
  address: string;
  name: string;
  /** Brought up with its fleet. */
  inPane: boolean;
  /** Null for a program without an adapter. */
  vendor: string | null;
  /** The vendor's program, but not for a conversation: `--version`, `mcp list`. */
  noConversation: boolean;
  fresh: boolean;
  binding: Binding | null;
  transcript: Transcript | null;
  holder: Holder | null;
}

export type LaunchDecision =
  | { step: "plain" }
  /** With the bound id if it was never used, else with one that has yet to be chosen. */
  | { step: "new"; id: string | null }
  /** Unsaid: it ended before its first turn, and what was to be said first has yet to be. */
  | { step: "resume"; id: string; unsaid: boolean }
  | LaunchRefusal;

interface LaunchRefusal {
  step: "refuse";
  code: ErrorCode;
  message: string;
  hint: string;
  /** The conversation itself is in the way, and will be at the next try too. */
  lasting: boolean;
}

/** A worker comes back in its own conversation or not at all: every other way out of here is a refusal. */
export function decideLaunch(wish: LaunchQuestion): LaunchDecision {
  const { binding, vendor } = wish;
  if (wish.noConversation) return { step: "plain" };
  if (wish.fresh || binding === null) return vendor === null ? { step: "plain" } : { step: "new", id: null };
  if (vendor !== binding.vendor) return otherProgram(wish, binding);
  if (wish.holder !== null) return openElsewhere(wish, binding, wish.holder);
  return decideByTranscript(wish, binding, wish.transcript ?? { state: "absent" });
}

function decideByTranscript(wish: LaunchQuestion, binding: Binding, transcript: Transcript): LaunchDecision {
  if (transcript.state === "unseen") {
    return binding.begun ? { step: "resume", id: binding.id, unsaid: false } : { step: "new", id: binding.id };
  }
  if (transcript.state === "absent") {
    const everWritten = binding.bytes !== null || binding.writtenAtBirth;
    return everWritten ? lost(wish, binding, "is gone") : { step: "new", id: binding.id };
  }
  if (transcript.state === "empty") {
    // Killed in its first moments: nothing was said, so nothing is lost; but the vendor will not take the id again.
    return binding.bytes === null && !binding.writtenAtBirth && !binding.prompted
      ? { step: "new", id: null }
      : lost(wish, binding, `is empty (${transcript.file})`);
  }
  if (transcript.state === "damaged") return lost(wish, binding, `is damaged: ${transcript.why} (${transcript.file})`);
  const isShorter = binding.bytes !== null && transcript.bytes < binding.bytes;
  if (isShorter && !transcript.shrinks && binding.sameBoot) {
    const sizes = `it had ${binding.bytes} bytes and has ${transcript.bytes}`;
    return lost(wish, binding, `was cut short: ${sizes} (${transcript.file})`);
  }
  return { step: "resume", id: binding.id, unsaid: transcript.unsaid === true && !binding.prompted };
}

function lost({ address, name, inPane }: LaunchQuestion, { vendor, id, kept }: Binding, how: string): LaunchRefusal {
  const back = kept
    ? `go back to the copy that was kept: perdure adopt ${name} --kept`
    : "put the file back and try again";
  return {
    step: "refuse",
    code: "refused",
    message: `The transcript of ${address}'s ${vendor} conversation ${id} ${how}.`,
    lasting: true,
    hint: `${back}; or take what is there: perdure adopt ${name} --vendor ${vendor} --conversation ${id}; or start over: ${startCommand(name, inPane)} --fresh`,
  };
}

function openElsewhere(
  { address, name, inPane }: LaunchQuestion,
  { vendor, id }: Binding,
  holder: Holder,
): LaunchRefusal {
  return {
    step: "refuse",
    code: "refused",
    message: `The ${vendor} conversation ${id} of ${address} is open in another process, pid ${holder.pid} (${holder.evidence}).`,
    lasting: false,
    hint: holder.worker ? `perdure takeover ${holder.worker}` : `leave it there, then: ${startCommand(name, inPane)}`,
  };
}

function otherProgram(
  { address, name, inPane, vendor: asked }: LaunchQuestion,
  { vendor, id }: Binding,
): LaunchRefusal {
  return {
    step: "refuse",
    code: "refused",
    message: `${address} is in the ${vendor} conversation ${id}, which ${asked ?? "this program"} cannot continue.`,
    lasting: false,
    hint: `choose another name, or leave that conversation behind: ${startCommand(name, inPane)} --fresh${inPane ? "" : " -- COMMAND"}`,
  };
}
