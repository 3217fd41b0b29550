import type { BaseServices } from "../base-services.ts";
import type { RunWatch } from "../runs/watch.ts";
import type { WorkerActivities } from "../worker-activity.ts";

/** Services of the code that follows conversations. */
export interface ConversationServices extends BaseServices {
  readonly runs: RunWatch;
  readonly activities: WorkerActivities;
  readonly custody: TranscriptCopies;
}

/** The part of custody that following a conversation needs. */
interface TranscriptCopies {
  /** Brings the copy of the conversation's transcript up to date. */
  updateCopy(
    conversationId: number,
    options?: { final?: boolean; search?: boolean; written?: string | undefined },
  ): Promise<unknown>;
}
