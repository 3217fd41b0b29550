import type * as z from "zod/mini";

/** Everything that is known of one call; its handler is `handlers[name]` in the daemon. */
interface CallEntry {
  params: z.ZodMiniType;
  result: TypeOnly<unknown>;
  /** A call that streams sends items of this type before its result. */
  item?: TypeOnly<unknown>;
  /**
   * Whether a worker's token is enough, or only the operator may make the call. With a word, a project's `[policy] agents_may`
   * takes the call away from its agents by leaving that word out.
   */
  agentsMay: boolean | PolicyWord;
  /** A call that changes something is refused to a worker's run that no longer has its name. */
  changes: boolean;
  /** The call lasts as long as its client does, so it does not count among the calls that a connection has in flight. */
  staysOpen?: true;
}

export type CallTable = Readonly<Record<string, CallEntry>>;

export type PolicyWord = "send" | "ask" | "reply" | "inbox";

/** A type in a table of values. Answers are made by the daemon, so nobody checks them at run time. */
export interface TypeOnly<T> {
  readonly type?: T;
}

export const typeOnly = <T>(): TypeOnly<T> => NO_VALUE;

const NO_VALUE = {};
