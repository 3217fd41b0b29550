import type { LaunchServices } from "../launch/services.ts";
import type { FleetSupervisor } from "./supervisor.ts";

/** Services of the code that brings a fleet up. */
export interface FleetServices extends LaunchServices {
  readonly fleet: FleetSupervisor;
}
