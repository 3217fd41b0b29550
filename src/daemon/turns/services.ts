import type { KeyedMutex } from "../../util/semaphore.ts";
import type { LaunchServices } from "../launch/services.ts";
import type { MailServices } from "../mail/services.ts";
import type { RunStopper } from "../runs/stop.ts";

/** Services of the code that makes turns: a program that is started for some messages, answers and ends. */
export interface TurnServices extends LaunchServices, MailServices {
  readonly stopper: RunStopper;
  /** Lets one program per vendor at a time make a conversation. */
  readonly minting: KeyedMutex;
}
