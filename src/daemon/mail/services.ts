import type { BaseServices } from "../base-services.ts";
import type { MailRuntime } from "./runtime.ts";

/** Services of the code that admits and delivers mail. */
export interface MailServices extends BaseServices {
  readonly mail: MailRuntime;
}
