import type { Hinted } from "../hint.ts";
import type { RestoredAt } from "./restored.ts";

// A vendor's conversation: what identifies it, what lies on disk for it, and whether a process proved to be in it.

/** The location of a conversation: the vendor's own id means nothing without the folder it is looked up in. */
export interface SessionLocation {
  vendor: string;
  id: string;
  configDir: string;
  launchCwd: string;
}

/** The way in which the id of a conversation became known. */
export type Provenance = "assigned" | "minted" | "adopted" | "rotated";

/** Whether a run is in the conversation it should be in: `pending` until the vendor's first sign; only `false` is an alarm. */
export type Proved = "pending" | boolean;

/** A live process that has the conversation open, as far as the vendor lets one see. */
export interface Holder {
  pid: number;
  evidence: string;
  /** The address of the worker whose run the process is, if it is one of ours. */
  worker?: string | undefined;
}

/** The state of a conversation's transcript on disk. */
export type Transcript =
  | { state: "absent" }
  /** The vendor keeps it where nobody else can look. */
  | { state: "unseen" }
  | { state: "empty"; file: string }
  /**
   * `readable`: only a comparison with the copy shows the damage; the vendor would read it. `lacks`: the transcript is whole, and the
   * vendor reads what was said before it in this other conversation, which is gone.
   */
  | { state: "damaged"; file: string; why: string; bytes: number; readable?: true; lacks?: string }
  | GoodTranscript;

/** A file that cannot be appended to, or a folder in which none can be made, where a conversation has to be written. */
export interface Unwritable {
  path: string;
  isFolder: boolean;
  /** The file or folder belongs to the user who would write it. */
  isOwn: boolean;
  code: "EACCES" | "EPERM" | "EROFS";
  /** The error in words. */
  why: string;
}

/** The end of one side of a split conversation. */
export interface Leaf {
  /** The vendor's id of its last entry. */
  id: string;
  /** The last words said in it. */
  words: string | null;
}

/** A transcript in which two processes went on from the same entry, so that the next resume would leave out the worker's turn. */
export interface Split {
  /** The side with the last turn of the worker's own runs. */
  ours: Leaf;
  /** The side that the vendor would resume. */
  theirs: Leaf;
}

/** A place at which a transcript has lost an entry, so that the vendor would resume without what was said before it. */
export interface Gap {
  /** The vendor's id of the entry that is not there. */
  missing: string;
  /** The last words that are in the file and out of reach. */
  words: string | null;
}

export interface GoodTranscript {
  state: "good";
  file: string;
  bytes: number;
  version: string | null;
  /** The user can take words back in it, so a shorter file has lost nothing. */
  shrinks?: true;
  /** The vendor has made the file, and nothing was said in it yet. */
  unsaid?: true;
  /** The folder it began in, where the transcript tells. */
  cwd?: string | undefined;
  /** The SHA-256 of what the vendor's program printed, for a conversation in a database. */
  printed?: string;
}

/** The words that make a program begin a conversation or resume it, with the placeholders `{id}`, `{name}` and `{prompt}`. */
export interface Declared {
  new: string[];
  resume: string[];
}

/** A conversation as it lies in a vendor's folder, whoever began it. */
export interface FoundConversation {
  id: string;
  /** The transcript; null where the vendor keeps a database. */
  file: string | null;
  /** The folder it began in, if that is known. */
  cwd: string | null;
  /** The last words in it, a person's if that can be told. */
  words: string | null;
  atMs: number;
}

/**
 * Whether a sign was made by a program that had the conversation `open`, or may only `echo` the command line: some programs
 * show the id they were told before they have opened anything, and go elsewhere, or nowhere, afterwards.
 */
type SignMeaning = "open" | "echo";

/** A vendor's process, hook or file says which conversation it is in. */
export interface Sign {
  session: string;
  means: SignMeaning;
  /** The source of the sign, for people: "SessionStart hook (resume)". */
  evidence: string;
  transcript?: string | undefined;
  /** The file to which the process writes the conversation now, which may be a later one than its transcript, where that is seen. */
  writes?: string | undefined;
  /** The time since which it shows this, where several are shown at once: the latest is the one it is in. */
  sinceMs?: number | undefined;
  activity?: Activity | undefined;
  /** The reason why it is blocked, where the vendor tells it. */
  blocked?: BlockedReason | undefined;
  /** The name that its user has given to the conversation, null for one without; left out where the sign does not tell. */
  name?: string | null | undefined;
  /** The mark of a prompt that was sent, by which the prompt is found in the transcript. */
  prompt?: string | undefined;
  /** The program's own words for what blocks it. */
  words?: string | undefined;
  /** The words that were said last, by the user or the agent, where the sign tells them. */
  said?: string | undefined;
  /** The vendor's folder, or its database, in which the process has the conversation open, where the sign tells that. */
  place?: string | undefined;
  /** The pid of the agent's process that shows it, where that is known. */
  process?: number | undefined;
  /** Another process of the run shows it than the one that was in the conversation, which is gone. */
  isSuccessors?: boolean | undefined;
  /** The process has several conversations open, and the sign is about one of them: it counts only if the run is in that one. */
  stays?: boolean | undefined;
}

export type Activity = "idle" | "busy" | "blocked";

/** A blocked worker goes on when somebody has dealt with this, or waited for it. */
export type BlockedReason = "permission" | "question" | "trust" | "login" | "limit";

/** The state of a worker as its program shows it. */
export interface Outward {
  activity: Activity;
  blocked?: BlockedReason | undefined;
  /** The program's own words for what blocks it. */
  words?: string | undefined;
}

/** One vendor conversation of a worker. */
export interface SessionRecord {
  id: string;
  vendor: string;
  provenance: Provenance;
  /** The conversation this one came after, by `/clear`, `/new` or `--fresh`. */
  rotatedFrom: string | null;
  /** The conversation it began as a branch of. */
  forkedFrom: string | null;
  launchCwd: string;
  configDir: string;
  proved: Proved;
  evidence: string | null;
  /** The copy that perdure keeps of the conversation. */
  custody: { bytes: number; sha256: string; at: string } | null;
  /** The last time that the copy, or the worker's own side, was put back, and what was missing from it. */
  restored: RestoredAt | null;
  /** The next start resumes this conversation. */
  current: boolean;
  /** The version of the vendor's program, as the transcript tells it. */
  version: string | null;
  /** The name that its user gave it inside the vendor's program, where that tells; a daemon of an earlier version does not say. */
  name?: string | null;
  transcript: { file: string; bytes: number } | null;
  createdAt: string;
}

/** A conversation found in a vendor's folder, as `adopt` without a name lists it. */
export interface FoundRecord {
  id: string;
  vendor: string;
  /** The last words in it. */
  words: string | null;
  at: string;
  cwd: string | null;
  /** The pid of a live process that has it open. */
  openIn: number | null;
  /** The worker it belongs to. */
  worker: string | null;
}

/** A drill of one worker: whether it could be resumed; the reason is that of the first check that failed. */
export interface DrillResult extends Hinted {
  address: string;
  ok: boolean;
  reason: string | null;
  vendor: string | null;
  /** The reason why the vendor's real program was never tried; null when it was. */
  unproved: string | null;
  session: string | null;
  checks: DrillCheck[];
}

export interface DrillCheck extends Hinted {
  check: string;
  ok: boolean;
  detail: string;
  /** The check found something that keeps nobody from resuming. */
  warning?: true;
}

/** The variables that lead a vendor to its folder: a value, or null for one that must not be set. */
export type Variables = Readonly<Record<string, string | null>>;

/** The id of a conversation can be neither an option nor a path. */
export const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;

export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text);
}
