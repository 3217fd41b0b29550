import type { StatusServices } from "../status/services.ts";
import type { WorkerActivities } from "../worker-activity.ts";

/** Services of the code that tells people that they are needed. */
export interface NotifyServices extends StatusServices {
  readonly activities: WorkerActivities;
}
