import type { Restored } from "../../protocol/records/restored.ts";
import type {
  Gap,
  GoodTranscript,
  Holder,
  Split,
  Transcript,
  Unwritable,
} from "../../protocol/records/conversation.ts";
import { runById } from "../../store/runs.ts";
import { custodyOf } from "../../store/custody.ts";
import { conversationsOfId, type Conversation } from "../../store/conversations.ts";
import { formatAddress } from "../../protocol/names.ts";
import { projectById } from "../../store/projects.ts";
import { workerById } from "../../store/workers.ts";
import { endTornLine } from "../../state/open-regular.ts";
import { shellQuote } from "../../util/shell-quote.ts";
import { adapterOf } from "../../vendors/index.ts";
import { inspectTree } from "../custody/split.ts";
import { locationOf, openersOf, probeConversation } from "../conversations/probe/probe.ts";
import { carryConversation, hindered, inPlace, planCarry, type CarryOutcome } from "./carry.ts";
import type { LaunchServices } from "./services.ts";
import { unwritableConversation } from "./writable.ts";

/** The findings, on disk and among the processes, about the conversation that a worker is bound to, before a claim. */
export interface ConversationProbe {
  conversationId: number | null;
  transcript: Transcript | null;
  holder: Holder | null;
  /** The restored copy, if the vendor had lost the transcript; in a drill, the copy that a start would restore. */
  restored: Restored | null;
  /** Custody has an intact copy; a start checks it only for a transcript that may be refused. */
  hasCopy: boolean;
  split: Split | null;
  /** The file or folder that keeps the vendor from writing the conversation. */
  unwritable: Unwritable | null;
  /** The reason why the vendor would not find the conversation from its launch folder. */
  obstacle: string | null;
  /** The command that brings back a conversation which its user has archived. */
  archived: string | null;
  /** The conversation was carried to its launch folder; in a drill, a start would carry it. */
  carried: boolean;
  /** Resolves when the copy is up to date, which a start has to wait for: some vendors delete old conversations when they start. */
  copied: Promise<void>;
}

interface ProbeOptions {
  /** Changes nothing, and reads everything: says what a start would find. */
  drill?: true;
  /** Tells whether a process that has the conversation open is the worker's own agent. */
  isOwn?: (pid: number) => boolean;
  /** False for a start that does not resume, which carries nothing. */
  resumes?: boolean;
}

/**
 * Probes before a start, restores what the vendor has lost, and carries the conversation to its launch folder; a drill only
 * predicts that. Both decide by the same findings.
 */
export async function probeBinding(
  services: LaunchServices,
  conversation: Conversation | null,
  { drill, isOwn = () => false, resumes = true }: ProbeOptions = {},
): Promise<ConversationProbe> {
  const adapter = conversation && adapterOf(conversation.vendor);
  if (!conversation || !adapter) return { ...NOTHING, conversationId: conversation?.id ?? null };
  // What the last run wrote is its proof, and has to be checked before anybody writes more.
  await services.conversations.finalCheckDone(conversation.id);
  const place = locationOf(conversation);
  // At once: the kernel may take 20 ms to list the locks.
  const [holders, archived = null, onDisk] = await Promise.all([
    openersOf(services, conversation),
    adapter.storage.archivedBy?.(place),
    probeConversation(services, conversation),
  ]);
  const holder = holders.find(({ pid }) => !isOwn(pid)) ?? null;
  // What its user has put away is not lost, and nothing is put back in its place.
  if (archived !== null) {
    const hasCopy = drill === true && (await services.custody.hasIntactCopy(conversation.id));
    return { ...NOTHING, conversationId: conversation.id, archived: withVariables(archived, conversation), hasCopy };
  }
  const probed = await withStem(services, conversation, onDisk, drill);
  const found = await services.custody.checkAgainstCopy(conversation, probed, drill);
  const lost = holder === null && services.custody.isLost(conversation, found);
  const atPlace = unwritableConversation(conversation, found, lost);
  const restored = lost && atPlace === null ? await restoredCopy(services, conversation, drill) : null;
  const present = restored ? await afterRestore(services, conversation, restored, drill) : found;
  const mayCarry = resumes && holder === null && atPlace === null && !(drill && restored);
  const placed = mayCarry
    ? await carryOrPredict(services, conversation, present, drill)
    : { ...inPlace(present), unwritable: atPlace };
  const { carried, obstacle, unwritable } = placed;
  const mayWrite = resumes && holder === null && !drill && adapter.storage.gluesToTornLine === true;
  const transcript = mayWrite && atPlace === null ? await withEndedLine(placed.transcript) : placed.transcript;
  const copied =
    transcript.state === "good" && !drill
      ? services.custody.updateCopy(conversation.id, {
          file: transcript.file,
          ...(transcript.printed !== undefined && { printed: transcript.printed }),
          verify: true,
          final: holder === null,
        })
      : NOTHING.copied;
  // Whether there is an intact copy is asked below.
  if (isDoubtful(conversation, found)) await copied;
  const { split, gap } =
    transcript.state === "good" ? await inspectTree(services, conversation, transcript.file) : NO_FINDINGS;
  return {
    conversationId: conversation.id,
    transcript: transcript.state === "good" && gap !== null ? withGap(transcript, gap) : transcript,
    holder: holder && { ...holder, worker: ownerOf(services, holder.pid) },
    restored,
    hasCopy: (drill ?? isDoubtful(conversation, found)) && (await services.custody.hasIntactCopy(conversation.id)),
    split,
    unwritable,
    obstacle,
    archived: null,
    carried,
    copied,
  };
}

/** Ends a last line that was cut off. */
async function withEndedLine(transcript: Transcript): Promise<Transcript> {
  if (transcript.state !== "good" || !(await endTornLine(transcript.file))) return transcript;
  return { ...transcript, bytes: transcript.bytes + 1 };
}

const NO_FINDINGS = { split: null, gap: null };

/** Returns the transcript as one that a person may take as it is: the copy has the same gap. */
function withGap({ file, bytes }: GoodTranscript, { missing, words }: Gap): Transcript {
  const lost = words === null ? "what was said before it" : `what was said up to "${words}"`;
  const why = `${lost} is out of reach, because the entry ${missing}, which a later one follows, is not in it`;
  return { state: "damaged", file, bytes, why, readable: true };
}

/** Puts the conversation back that a branch refers to, where the vendor has lost it and there is a copy; a drill says that it would be. */
async function withStem(
  services: LaunchServices,
  conversation: Conversation,
  found: Transcript,
  drill: true | undefined,
): Promise<Transcript> {
  if (found.state !== "damaged" || found.lacks === undefined) return found;
  const stem = conversationsOfId(services.db, conversation.vendor, found.lacks).find(
    ({ configDir }) => configDir === conversation.configDir,
  );
  if (!stem || !(await services.custody.hasIntactCopy(stem.id))) return found;
  if (drill) return { state: "good", file: found.file, bytes: found.bytes, version: null };
  if ((await services.custody.restore(stem)) === null) return found;
  const again = await probeConversation(services, conversation);
  // One that was put back and is still not seen will not be by another copy.
  const isStillLacking = again.state === "damaged" && again.lacks === found.lacks;
  return isStillLacking ? again : withStem(services, conversation, again, drill);
}

/** Returns the command with the variable that leads the vendor's program to the conversation's config dir, where there is one. */
function withVariables(command: string, { variables }: Conversation): string {
  const set = Object.entries(variables).filter(([name, value]) => name !== "HOME" && value !== null);
  return [...set.map(([name, value]) => `${name}=${shellQuote(value ?? "")}`), command].join(" ");
}

const NOTHING = {
  transcript: null,
  holder: null,
  restored: null,
  hasCopy: false,
  split: null,
  unwritable: null,
  obstacle: null,
  archived: null,
  carried: false,
  copied: Promise.resolve(),
};

/** Carries the conversation to its launch folder, or says for a drill whether a start would. */
async function carryOrPredict(
  services: LaunchServices,
  conversation: Conversation,
  transcript: Transcript,
  drill: true | undefined,
): Promise<CarryOutcome> {
  if (!drill) return carryConversation(services, conversation, transcript);
  const plan = await planCarry(services, conversation, transcript);
  return plan.kind === "carry" ? { ...inPlace(transcript), carried: true } : hindered(transcript, plan);
}

/** Tells whether a start may be refused for the transcript, so that its copy will be offered. */
function isDoubtful({ transcriptBytes }: Conversation, found: Transcript): boolean {
  return found.state !== "good" || found.bytes < (transcriptBytes ?? 0);
}

async function restoredCopy(
  services: LaunchServices,
  conversation: Conversation,
  drill: true | undefined,
): Promise<Restored | null> {
  if (!drill) return services.custody.restore(conversation);
  const copy = custodyOf(services.db, conversation.id);
  const hasPlace = conversation.transcript !== null || adapterOf(conversation.vendor)?.storage.archive !== undefined;
  if (copy === null || !hasPlace || !(await services.custody.hasIntactCopy(conversation.id))) return null;
  return services.custody.describeRestored(conversation, copy);
}

/** Returns the transcript as it is after the restore, or as it would be. */
async function afterRestore(
  services: LaunchServices,
  conversation: Conversation,
  { bytes }: Restored,
  drill: true | undefined,
): Promise<Transcript> {
  if (!drill) return probeConversation(services, conversation);
  return { state: "good", file: services.custody.copyOf(conversation.id), bytes, version: null };
}

function ownerOf(services: LaunchServices, pid: number): string | undefined {
  const run = runById(services.db, services.processes.variable(pid, "PERDURE_RUN") ?? "");
  const isOurs = run && services.processes.variable(pid, "PERDURE_SOCKET") === services.paths.socket;
  const worker = isOurs ? workerById(services.db, run.workerId) : null;
  const project = worker && projectById(services.db, worker.projectId);
  return worker && project ? formatAddress(project.slug, worker.name) : undefined;
}
