import type { ErrorCode } from "../protocol/errors.ts";
import { hintOf, joinHints, startVerb, verb, type HintLike } from "../protocol/hint.ts";
import type { Holder, Split, Transcript, Unwritable } from "../protocol/records/conversation.ts";
import { shellWords } from "../util/shell-quote.ts";

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
  /** The last run in it spoke and left nothing on disk: what showed that; null otherwise. */
  unrecorded: string | null;
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
  /** Another process has written beside the worker, and the vendor would resume without the worker's own last turn. */
  split: Split | null;
  /** The operator takes the other side of a split. */
  accept: boolean;
  /** The reason why the vendor would not find the conversation from the launch folder; null when it does. */
  obstacle?: string | null;
  /** The command that brings back a conversation which its user has archived; null for one that is not. */
  archived?: string | null;
  /** The file or folder that keeps the vendor from writing the conversation of this start; null when nothing does. */
  unwritable?: Unwritable | null;
  /** The config dir that the start would use, where that is not the conversation's; null when it is. */
  otherConfig?: OtherConfig | null;
}

/** A config dir to which a start would be led, and which is not that of the bound conversation. */
export interface OtherConfig {
  configDir: string;
  /** The config dir of the conversation, and whether it is still there. */
  own: string;
  ownExists: boolean;
  /** The path that led to the conversation's config dir and leads elsewhere now; null if the command sets a variable. */
  path: string | null;
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
  hint: HintLike;
  /** The cause is the conversation itself, so the next try would be refused, too. */
  permanent: boolean;
}

/** Decides how to start a worker: in its own conversation, in a new one where none was used yet, or not at all. */
export function decideLaunch(input: LaunchInput): LaunchDecision {
  const { binding, vendor } = input;
  if (input.noConversation) return { step: "plain" };
  if (input.fresh || binding === null) {
    if (vendor === null) return { step: "plain" };
    return input.unwritable ? refuseUnwritable(input, vendor, input.unwritable, false) : { step: "new", id: null };
  }
  if (vendor !== binding.vendor) return refuseOtherProgram(input, binding);
  if (input.otherConfig) return refuseOtherConfig(input, binding, input.otherConfig);
  if (input.archived) return refuseArchived(input, binding, input.archived);
  if (input.holder !== null) return refuseOpenElsewhere(input, binding, input.holder);
  if (input.unwritable) return refuseUnwritable(input, binding.vendor, input.unwritable, true);
  if (input.obstacle) return refuseNotFound(input, binding, input.obstacle);
  return decideByTranscript(input, binding, input.transcript ?? { state: "absent" });
}

function decideByTranscript(input: LaunchInput, binding: Binding, transcript: Transcript): LaunchDecision {
  if (binding.unrecorded !== null && hasNothing(binding.bytes, transcript))
    return refuseUnrecorded(input, binding, binding.unrecorded);
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
  if (transcript.state === "damaged") {
    const damage = `is damaged: ${transcript.why} (${transcript.file})`;
    return refuseLost(input, binding, damage, transcript.readable === true);
  }
  const isShorter = binding.bytes !== null && transcript.bytes < binding.bytes;
  if (isShorter && !transcript.shrinks && binding.sameBoot) {
    const sizes = `it had ${binding.bytes} bytes and has ${transcript.bytes}`;
    return refuseLost(input, binding, `was cut short: ${sizes} (${transcript.file})`, true);
  }
  if (input.split !== null && !input.accept) return refuseSplit(input, binding, input.split);
  return { step: "resume", id: binding.id, firstTurnPending: transcript.unsaid === true && !binding.prompted };
}

/**
 * Tells whether nothing of a conversation was ever on disk. `bytes` is the largest size its transcript was seen with: one that was
 * seen and is gone is a loss. A damaged transcript, or one that only the vendor can read, is something.
 */
export function hasNothing(bytes: number | null, transcript: Transcript): boolean {
  if (transcript.state === "good") return transcript.unsaid === true;
  return bytes === null && (transcript.state === "absent" || transcript.state === "empty");
}

/** Refuses to start in a conversation that is not recorded: this start would begin anew under its id, and so would each later one. */
function refuseUnrecorded({ name, inPane }: LaunchInput, { vendor, id }: Binding, evidence: string): LaunchRefusal {
  return {
    step: "refuse",
    code: "refused",
    message: unrecordedMessage(vendor, id, evidence),
    permanent: true,
    hint: hintOf`turn its recording on and start over: ${startVerb(name, inPane, "--fresh")}; or, if it went to another conversation, take that one: ${verb("adopt")}`,
  };
}

/** Says why a conversation that was spoken in and not recorded cannot be resumed. */
export function unrecordedMessage(vendor: string, id: string, evidence: string): string {
  return `The ${vendor} conversation ${id} cannot be resumed: its last run ${evidence}`;
}

/**
 * Refuses a start of which nothing would be recorded because the vendor cannot write its conversation: some programs do not say so,
 * answer all the same and end well.
 */
export function refuseUnwritable(
  { address, name, inPane }: Pick<LaunchInput, "address" | "name" | "inPane">,
  vendor: string,
  { path, isFolder, isOwn, code, why }: Unwritable,
  isBound: boolean,
): LaunchRefusal {
  const place = isFolder
    ? `would make the file of its conversation below ${path}`
    : `keeps its conversation in ${path}`;
  const look = {
    EACCES: isOwn
      ? `make it writable: ${shellWords(["chmod", isFolder ? "u+wx" : "u+w", path])}`
      : `see whose it is: ${shellWords(["ls", "-ld", path])}`,
    EPERM: `see whether it is immutable: ${shellWords(["lsattr", "-d", path])}`,
    EROFS: `see what is mounted there: ${shellWords(["findmnt", "-T", path])}`,
  }[code];
  return {
    step: "refuse",
    code: "refused",
    message: `What ${address} says would be lost: ${vendor} ${place}, which cannot be written (${why}).`,
    permanent: false,
    hint: isBound ? hintOf`${look}; then: ${startVerb(name, inPane)}` : `${look}; then start it again`,
  };
}

function refuseLost(
  { address, name, inPane }: LaunchInput,
  { vendor, id, hasCopy }: Binding,
  damage: string,
  readable = false,
): LaunchRefusal {
  const restore = hasCopy
    ? hintOf`restore perdure's copy: ${verb("adopt", name, "--kept")}`
    : "put the file back and try again";
  // What the vendor cannot read cannot be adopted either.
  const adopt = hintOf`accept the file as it is: ${verb("adopt", name, "--vendor", vendor, "--conversation", id)}`;
  return {
    step: "refuse",
    code: "refused",
    message: `The transcript of ${address}'s ${vendor} conversation ${id} ${damage}.`,
    permanent: true,
    hint: joinHints(
      [restore, ...(readable ? [adopt] : []), hintOf`start over: ${startVerb(name, inPane, "--fresh")}`],
      "; or ",
    ),
  };
}

function refuseSplit({ address, name }: LaunchInput, { vendor, id }: Binding, { ours, theirs }: Split): LaunchRefusal {
  const shown = ({ id: leaf, words }: Split["ours"]): string => `${words === null ? "" : `"${words}", `}entry ${leaf}`;
  return {
    step: "refuse",
    code: "refused",
    message: `Another process has written to the ${vendor} conversation ${id} beside ${address}, and ${vendor} would resume without the worker's own last turn. The worker's own side ends with: ${shown(ours)}. The other ends with: ${shown(theirs)}.`,
    permanent: true,
    hint: hintOf`go on with the worker's own: ${verb("adopt", name, "--kept")}; or take the other: ${verb("run", name, "--accept")}`,
  };
}

function refuseNotFound({ address, name, inPane }: LaunchInput, { vendor, id }: Binding, why: string): LaunchRefusal {
  return {
    step: "refuse",
    code: "refused",
    message: `${vendor} would not find the conversation ${id} of ${address} from its folder: ${why}.`,
    permanent: true,
    hint: hintOf`${verb("show", name)} names the folder; or start over: ${startVerb(name, inPane, "--fresh")}`,
  };
}

/** Refuses a start in another config dir: the same id is another conversation there. */
function refuseOtherConfig(
  { address, name, inPane }: LaunchInput,
  { vendor, id }: Binding,
  { configDir, own, ownExists, path }: OtherConfig,
): LaunchRefusal {
  const begin = startVerb(name, inPane, "--fresh", ...(inPane ? [] : ["--", "COMMAND"]));
  const fresh = hintOf`start a new conversation there: ${begin}`;
  const refusal = { step: "refuse", code: "refused", permanent: false } as const;
  if (path === null) {
    const message = `The command uses the config dir ${configDir}, but the conversation of ${address} is in ${own}.`;
    return { ...refusal, message, hint: hintOf`omit the variable, or ${fresh}` };
  }
  const back = ownExists
    ? `point ${path} at ${own} again`
    : hintOf`take the conversation that is there now: ${verb("adopt", name, "--vendor", vendor, "--conversation", id)}`;
  const message = `${path} points to ${configDir} now, but the conversation of ${address} is in ${own}${ownExists ? "" : ", which is gone"}.`;
  return { ...refusal, message, hint: hintOf`${back}; or ${fresh}` };
}

function refuseArchived({ address, name, inPane }: LaunchInput, { vendor, id }: Binding, back: string): LaunchRefusal {
  return {
    step: "refuse",
    code: "refused",
    message: `The ${vendor} conversation ${id} of ${address} is archived, and ${vendor} does not resume archived conversations.`,
    permanent: false,
    hint: hintOf`bring it back: ${back}; then: ${startVerb(name, inPane)}`,
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
      ? verb("takeover", holder.worker)
      : hintOf`quit it in pid ${holder.pid}, then: ${startVerb(name, inPane)}`,
  };
}

function refuseOtherProgram(
  { address, name, inPane, vendor: requested }: LaunchInput,
  { vendor, id }: Binding,
): LaunchRefusal {
  const goOn = inPane
    ? `to go on with it: vendor = ${JSON.stringify(vendor)} in [workers.${name}] of perdure.toml; else `
    : "";
  return {
    step: "refuse",
    code: "refused",
    message: `${address} is in the ${vendor} conversation ${id}, which ${requested ?? "this program"} cannot continue.`,
    permanent: false,
    hint: hintOf`${goOn}choose another name, or abandon that conversation: ${startVerb(name, inPane, "--fresh", ...(inPane ? [] : ["--", "COMMAND"]))}`,
  };
}
