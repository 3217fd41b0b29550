// A vendor's conversation: what identifies it, what lies on disk for it, and whether a process proved to be in it.

/** The vendor's own id means nothing without the folder it is looked up in. */
export interface SessionPlace {
  vendor: string;
  id: string;
  configDir: string;
  launchCwd: string;
}

/** How the id came to be known. */
export type Provenance = "assigned" | "minted" | "adopted" | "rotated";

/** `pending` until the vendor's first sign; only `false` is an alarm. */
export type Proved = "pending" | boolean;

/** A live process that has the conversation open, as far as the vendor lets one see. */
export interface Holder {
  pid: number;
  evidence: string;
  /** Whose run it is, if it is one of ours. */
  worker?: string | undefined;
}

/** What is on disk for a session. */
export type Transcript =
  | { state: "absent" }
  /** Kept where nobody but the vendor can look. */
  | { state: "unseen" }
  | { state: "empty"; file: string }
  | { state: "damaged"; file: string; why: string; bytes: number }
  | GoodTranscript;

export interface GoodTranscript {
  state: "good";
  file: string;
  bytes: number;
  version: string | null;
  /** Its user can take words back, and nothing is lost when it gets shorter. */
  shrinks?: true;
  /** There from the vendor's making, and nothing was said in it yet. */
  unsaid?: true;
  /** The folder it began in, where the transcript tells. */
  cwd?: string | undefined;
}

/** How a program is told to begin a conversation and to resume it; `{id}`, `{name}` and `{prompt}` stand for themselves. */
export interface Declared {
  new: string[];
  resume: string[];
}

/** A conversation as it lies in a vendor's folder, whoever began it. */
export interface FoundConversation {
  id: string;
  /** Null where the vendor keeps a database. */
  file: string | null;
  /** Where it began, if that is known. */
  cwd: string | null;
  /** What was said in it last, by a person if that can be told. */
  words: string | null;
  atMs: number;
}

/** What a vendor's process, hook or file says about the conversation it is in. */
export interface Sign {
  session: string;
  /** Where it was seen, for people: "SessionStart hook (resume)". */
  evidence: string;
  transcript?: string | undefined;
  /** Since when it shows this, where several are shown at once: the latest is the one it is in. */
  sinceMs?: number | undefined;
  activity?: Activity | undefined;
  /** Of a blocked one: what it waits for, where that is told. */
  blocked?: BlockedReason | undefined;
  /** Of one of several conversations a process has open, not of where it is: it counts for the one the run is in. */
  stays?: boolean | undefined;
}

export type Activity = "idle" | "busy" | "blocked";

/** What somebody has to do or to wait for before a blocked worker goes on. */
export type BlockedReason = "permission" | "question" | "trust" | "login" | "limit";

/** What can be said of a worker by looking at its terminal. */
export interface Outward {
  activity: Activity;
  blocked?: BlockedReason;
}

/** The variables that lead a vendor to its folder: a value, or null for one that must not be set. */
export type Variables = Readonly<Record<string, string | null>>;

/** Nothing that could be an option or a path. */
export const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;

export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text);
}
