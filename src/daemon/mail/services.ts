import type { BaseServices } from "../base-services.ts";
import type { MailRuntime } from "./runtime.ts";

/** Services of the code that takes mail in and moves it on. */
export interface MailServices extends BaseServices {
  readonly mail: MailRuntime;
}
