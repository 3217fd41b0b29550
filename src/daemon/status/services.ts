import type { BaseServices } from "../base-services.ts";
import type { WorkerActivities } from "../worker-activity.ts";
import type { ConversationTracker } from "../conversations/follow/tracker.ts";
import type { Couriers } from "../delivery/couriers.ts";
import type { FleetSupervisor } from "../fleet/supervisor.ts";
import type { MailRuntime } from "../mail/runtime.ts";
import type { RunWatch } from "../runs/watch.ts";
import type { Turns } from "../turns/turns.ts";

/** Services of the code that describes workers as they are now. */
export interface StatusServices extends BaseServices {
  readonly runs: RunWatch;
  readonly activities: WorkerActivities;
  readonly conversations: ConversationTracker;
  readonly fleet: FleetSupervisor;
  readonly couriers: Couriers;
  readonly turns: Turns;
  readonly mail: MailRuntime;
}
