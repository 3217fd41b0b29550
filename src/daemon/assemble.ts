import type { BaseServices } from "./base-services.ts";
import { ConversationTracker } from "./conversations/follow/tracker.ts";
import { Custody } from "./custody/custody.ts";
import { Couriers } from "./delivery/couriers.ts";
import { RecordedEnvironments } from "./environments.ts";
import { FleetSupervisor } from "./fleet/supervisor.ts";
import { MailClock } from "./mail/clock.ts";
import { DroppedMail } from "./mail/drop/dropped-mail.ts";
import { MailRuntime } from "./mail/runtime.ts";
import { Notifier } from "./notify/notifier.ts";
import { AgentPolicy } from "./permissions/policy.ts";
import { RunLifecycle } from "./run-lifecycle.ts";
import { RunStopper } from "./runs/stop.ts";
import { RunWatch } from "./runs/watch.ts";
import type { Services } from "./services.ts";
import { EventCounts } from "./status/event-counts.ts";
import { Turns } from "./turns/turns.ts";
import { WorkerActivities } from "./worker-activity.ts";

/** Makes all services of a daemon from those below them, and connects them along the life of a run. */
export function assembleServices(given: Omit<BaseServices, "environments">): Services {
  const base: BaseServices = { ...given, environments: new RecordedEnvironments(given) };
  const custody = new Custody(base);
  const mail = new MailRuntime(base, new MailClock(base));
  const runs = new RunWatch(base);
  const activities = new WorkerActivities();
  const stopper = new RunStopper({ ...base, runs });
  const conversations = new ConversationTracker({ ...base, runs, activities, custody });
  const fleet = new FleetSupervisor({ ...base, runs, conversations, custody });
  const couriers = new Couriers({ ...base, runs, activities, conversations, mail, terminals: fleet.tmux });
  const turns = new Turns({ ...base, runs, conversations, custody, mail, stopper, minting: fleet.minting });
  mail.setTurnOutlook((workerId) => turns.outlookOf(workerId));
  const services = {
    ...base,
    policy: new AgentPolicy(),
    runs,
    activities,
    stopper,
    conversations,
    custody,
    mail,
    droppedMail: new DroppedMail({ ...base, mail }),
    couriers,
    fleet,
    turns,
    eventCounts: new EventCounts(base),
    notifier: new Notifier({ ...base, runs, activities, conversations, mail, couriers, fleet, turns }),
  };
  new RunLifecycle(services).subscribe();
  return services;
}
