import type { BaseServices } from "../base-services.ts";
import type { ConversationTracker } from "../conversations/follow/tracker.ts";
import type { Custody } from "../custody/custody.ts";
import type { RunWatch } from "../runs/watch.ts";

/** Services of the code that plans and starts a run. */
export interface LaunchServices extends BaseServices {
  readonly runs: RunWatch;
  readonly conversations: ConversationTracker;
  readonly custody: Custody;
}
