import { basename } from "node:path";
import { isOpen } from "../../../core/proof.ts";
import { HOOK_CONFIRM_MS } from "../../../limits/index.ts";
import type { Sign } from "../../../protocol/records/conversation.ts";
import { statIfThere } from "../../../state/files.ts";
import { conversationOfRun, lastEntryOfRun, type Conversation } from "../../../store/conversations.ts";
import { adapterOf } from "../../../vendors/index.ts";
import { probeConversation } from "../probe/probe.ts";
import type { ConversationServices } from "../services.ts";

/**
 * Decides about hooks that tell of another conversation than the run is in. Anybody in the run can call a hook with an id that they have
 * made up, so a move counts once the agent's process shows that conversation, too, or something of it is on disk.
 */
export class ToldMoves {
  readonly #services: ConversationServices;
  readonly #run: string;
  /** Since when a hook's file waits for that. */
  readonly #waiting = new Map<string, number>();

  constructor(services: ConversationServices, run: string) {
    this.#services = services;
    this.#run = run;
  }

  /** Tells what to do with the sign of a hook's file; `shown` returns what the agent's process shows now. */
  async judge(file: string, sign: Sign, shown: () => readonly Sign[]): Promise<"apply" | "wait" | "drop"> {
    const conversation = conversationOfRun(this.#services.db, this.#run);
    const isMove = conversation !== null && isMoveFrom(this.#services, this.#run, conversation, sign);
    if (!isMove || isShown(conversation, sign, shown()) || (await this.#isOnDisk(conversation, sign))) {
      this.#waiting.delete(file);
      return "apply";
    }
    const now = this.#services.monotonicMs();
    const since = this.#waiting.get(file) ?? now;
    this.#waiting.set(file, since);
    if (now - since < HOOK_CONFIRM_MS) return "wait";
    this.#waiting.delete(file);
    return "drop";
  }

  async #isOnDisk(conversation: Conversation, { session, transcript }: Sign): Promise<boolean> {
    const there = { ...conversation, vendorId: session };
    const { state } = await probeConversation(this.#services, there, transcript ?? null);
    return state === "good" || state === "empty";
  }
}

/** Tells, at the end of a run, whether the sign of a hook counts: `shown` is what the agent's process has shown last, or left behind. */
export function countsAtEnd(
  services: Pick<ConversationServices, "db">,
  run: string,
  sign: Sign,
  shown: readonly Sign[],
): boolean {
  const conversation = conversationOfRun(services.db, run);
  if (conversation === null || !isMoveFrom(services, run, conversation, sign)) return true;
  const { session, transcript } = sign;
  const isNamed = transcript !== undefined && basename(transcript).includes(session);
  return isShown(conversation, sign, shown) || (isNamed && statIfThere(transcript)?.isFile() === true);
}

/** Tells whether the sign would move the run; one that was never seen in its conversation does not move, nor does a later process. */
function isMoveFrom(
  { db }: Pick<ConversationServices, "db">,
  run: string,
  { vendorId }: Conversation,
  sign: Sign,
): boolean {
  const isOther = sign.session !== vendorId && sign.stays !== true && sign.isSuccessors !== true;
  return isOther && isOpen(sign) && lastEntryOfRun(db, run)?.proved === "true";
}

function isShown({ vendor }: Conversation, { session }: Sign, shown: readonly Sign[]): boolean {
  const tellsItself = adapterOf(vendor)?.liveness.tellsItself === true;
  return tellsItself || shown.some((each) => isOpen(each) && each.session === session);
}
