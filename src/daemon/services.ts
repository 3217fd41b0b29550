import type { BaseServices } from "./base-services.ts";
import type { ConversationTracker } from "./conversations/follow/tracker.ts";
import type { Couriers } from "./delivery/couriers.ts";
import type { Custody } from "./custody/custody.ts";
import type { FleetSupervisor } from "./fleet/supervisor.ts";
import type { DroppedMail } from "./mail/drop/dropped-mail.ts";
import type { MailRuntime } from "./mail/runtime.ts";
import type { AgentPolicy } from "./permissions/policy.ts";
import type { Notifier } from "./notify/notifier.ts";
import type { RunStopper } from "./runs/stop.ts";
import type { EventCounts } from "./status/event-counts.ts";
import type { RunWatch } from "./runs/watch.ts";
import type { Turns } from "./turns/turns.ts";
import type { WorkerActivities } from "./worker-activity.ts";

/** All services of the daemon. Only handlers of calls take all of them; a room names the ones it uses. */
export interface Services extends BaseServices {
  readonly policy: AgentPolicy;
  readonly runs: RunWatch;
  readonly activities: WorkerActivities;
  readonly stopper: RunStopper;
  readonly conversations: ConversationTracker;
  readonly custody: Custody;
  readonly mail: MailRuntime;
  readonly droppedMail: DroppedMail;
  readonly couriers: Couriers;
  readonly fleet: FleetSupervisor;
  readonly turns: Turns;
  readonly notifier: Notifier;
  readonly eventCounts: EventCounts;
}
