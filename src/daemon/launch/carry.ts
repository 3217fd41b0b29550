import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import type { GoodTranscript, Transcript, Unwritable } from "../../protocol/records/conversation.ts";
import { unwritableAt } from "../../state/unwritable.ts";
import { setTranscript, type Conversation } from "../../store/conversations.ts";
import { workerById } from "../../store/workers.ts";
import { adapterOf } from "../../vendors/index.ts";
import type { ArchiveRelocation, FileRelocation } from "../../vendors/shared/relocation.ts";
import { askProgramOf, probeConversation } from "../conversations/probe/probe.ts";
import { recordEvent } from "../events.ts";
import { copyWithFirstLine, createSmallFile, firstLineOf, isCopyWithFirstLine } from "./carried-files.ts";
import type { LaunchServices } from "./services.ts";

// Carries a conversation to the folder it is continued in, for a vendor that looks for conversations by folder: after its
// repository was moved, or when it was adopted elsewhere. The vendor's own file stays.

/** Whether a conversation is where its vendor looks for it from the launch folder. */
export type CarryPlan =
  | { kind: "there" }
  /** The vendor finds the conversation once it is carried; `carry` returns the file it is in then. */
  | { kind: "carry"; carry: () => Promise<string> }
  /** The reason why the vendor cannot be made to find the conversation. */
  | { kind: "impossible"; why: string }
  /** The vendor's folder for the launch folder cannot be written. */
  | { kind: "unwritable"; unwritable: Unwritable };

/** Says, changing nothing, whether the conversation has to be carried to its launch folder. */
export async function planCarry(
  services: LaunchServices,
  conversation: Conversation,
  transcript: Transcript,
): Promise<CarryPlan> {
  const relocation = adapterOf(conversation.vendor)?.storage.relocation;
  if (relocation === undefined || transcript.state !== "good") return { kind: "there" };
  return relocation.kind === "archive"
    ? planArchive(services, conversation, transcript, relocation)
    : planFile(conversation, transcript, relocation);
}

/** A conversation after the attempt to carry it, where that was necessary. */
export interface CarryOutcome {
  transcript: Transcript;
  carried: boolean;
  /** The reason why the vendor would not find the conversation; null when it does. */
  obstacle: string | null;
  /** The folder that the conversation cannot be carried to; null when it can, or need not. */
  unwritable: Unwritable | null;
}

/** Returns the outcome for a conversation that stays where it is. */
export function inPlace(transcript: Transcript): CarryOutcome {
  return { transcript, carried: false, obstacle: null, unwritable: null };
}

/** Returns the outcome for a conversation that is in place, or cannot be carried. */
export function hindered(transcript: Transcript, plan: Exclude<CarryPlan, { kind: "carry" }>): CarryOutcome {
  const stays = inPlace(transcript);
  if (plan.kind === "unwritable") return { ...stays, unwritable: plan.unwritable };
  return plan.kind === "impossible" ? { ...stays, obstacle: plan.why } : stays;
}

/** Carries the conversation to its launch folder, if it is not there. Custody's copy is then made anew. */
export async function carryConversation(
  services: LaunchServices,
  conversation: Conversation,
  transcript: Transcript,
): Promise<CarryOutcome> {
  try {
    const plan = await planCarry(services, conversation, transcript);
    if (plan.kind !== "carry") return hindered(transcript, plan);
    const found = await probeConversation(services, conversation, await plan.carry());
    if (found.state !== "good") return { ...inPlace(found), obstacle: "it is not found there" };
    await recordCarried(services, conversation, transcript, found);
    await services.custody.replaceCopy(conversation.id);
    return { ...inPlace(found), carried: true };
  } catch (error) {
    return { ...inPlace(transcript), obstacle: error instanceof Error ? error.message : String(error) };
  }
}

async function recordCarried(
  services: LaunchServices,
  conversation: Conversation,
  before: Transcript,
  { file, bytes, version }: GoodTranscript,
): Promise<void> {
  const worker = workerById(services.db, conversation.workerId);
  await services.writer.write(() => {
    setTranscript(services.db, conversation.id, { file, bytes, version, boot: services.processes.bootId() });
    const subject = { workerId: conversation.workerId, ...(worker && { projectId: worker.projectId }) };
    const { vendorId: session, launchCwd: folder } = conversation;
    const from = before.state === "good" ? before.file : null;
    recordEvent(services, "session.carried", subject, { session, folder, from, to: file });
  });
}

function planArchive(
  services: LaunchServices,
  conversation: Conversation,
  { cwd, file }: GoodTranscript,
  relocation: ArchiveRelocation,
): CarryPlan {
  const archive = adapterOf(conversation.vendor)?.storage.archive;
  const { vendor, vendorId, launchCwd } = conversation;
  if (!archive || cwd === undefined || cwd === launchCwd) return { kind: "there" };
  const carry = async (): Promise<string> => {
    const ask = askProgramOf(services, conversation);
    const text = relocation.rewrite((await ask(archive.print(vendorId))).stdout, launchCwd);
    if (text === null) throw new Error(`${vendor}'s export of it cannot be read`);
    const aside = join(services.paths.custody, `carried-${conversation.id}.json`);
    await mkdir(dirname(aside), { recursive: true, mode: 0o700 });
    try {
      await writeFile(aside, text, { mode: 0o600 });
      const { code, stderr } = await ask(archive.takeIn(aside));
      if (code !== 0) throw new Error(`${vendor} could not import it: ${stderr.trim().split("\n").at(-1) ?? ""}`);
      return file;
    } finally {
      await rm(aside, { force: true });
    }
  };
  return { kind: "carry", carry };
}

async function planFile(
  { configDir, launchCwd }: Conversation,
  { file }: GoodTranscript,
  relocation: FileRelocation,
): Promise<CarryPlan> {
  const firstLine = await firstLineOf(file);
  const index = (await relocation.readIndex?.(configDir)) ?? {};
  const placement = relocation.place({ path: relative(configDir, file), firstLine, folder: launchCwd, index });
  if ("impossible" in placement) return { kind: "impossible", why: placement.impossible };
  const target = resolve(configDir, placement.path);
  if (target === file && placement.firstLine === firstLine) return { kind: "there" };
  const copy = { source: file, target, skipped: firstLine, firstLine: placement.firstLine };
  if ((await isCopyWithFirstLine(copy)) === false) {
    return { kind: "impossible", why: `${target} already exists, and differs from ${file}` };
  }
  const unwritable = unwritableAt(dirname(target));
  if (unwritable) return { kind: "unwritable", unwritable };
  const carry = async (): Promise<string> => {
    await copyWithFirstLine(copy);
    for (const { path, text } of placement.files) await createSmallFile(resolve(configDir, path), text);
    return target;
  };
  return { kind: "carry", carry };
}
