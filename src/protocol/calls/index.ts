import * as z from "zod/mini";
import { adminCalls } from "./admin.ts";
import { conversationCalls } from "./conversations.ts";
import type { TypeOnly } from "./entry.ts";
import { fleetCalls } from "./fleet.ts";
import { leaseCalls } from "./lease.ts";
import { mailCalls } from "./mail.ts";
import { nameCalls } from "./names.ts";
import { text, type projectRef, type target } from "./shapes.ts";

// The calls a client can make, as the daemon checks them at its door. The client uses the types only, so a
// command line never pays for loading the validator.
//
// A new call is one entry in the file of its subject and one handler in the daemon. It is named by a verb, with an object where
// the verb alone leaves it open. A name that is also a command's does what that command does.

export const calls = {
  ...leaseCalls,
  ...conversationCalls,
  ...nameCalls,
  ...fleetCalls,
  ...mailCalls,
  ...adminCalls,
} as const;

/** The first frame of every client. */
export const hello = z.strictObject({
  protocol: z.int(),
  version: text(64),
  token: z.nullable(text(128)),
});

type Calls = typeof calls;

export type CallName = keyof Calls;
export type CallParams<N extends CallName> = z.infer<Calls[N]["params"]>;
export type CallResults = { [N in CallName]: Calls[N] extends { result: TypeOnly<infer Result> } ? Result : never };
/** The items that a streaming call sends before its result. */
export type StreamItems = {
  [N in CallName as Calls[N] extends { item: unknown } ? N : never]: Calls[N] extends { item: TypeOnly<infer Item> }
    ? Item
    : never;
};

export type ProjectRef = z.infer<typeof projectRef>;
export type Target = z.infer<typeof target>;
/** A worker of a fleet file, as it is brought up. */
export type FleetEntry = CallParams<"up">["workers"][number];
