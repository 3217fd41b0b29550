import type { Mode } from "./case.ts";
import type { VendorName } from "./bed/pins.ts";
import { claude } from "./cases/traits/claude.ts";
import { codex } from "./cases/traits/codex.ts";
import { gemini } from "./cases/traits/gemini.ts";

/** What the cases have to know of a vendor besides what the bed knows: data, one file each in cases/traits/. */
export interface Traits {
  /** Words behind all others in a terminal; what perdure adds by itself is not among them. */
  readonly interactive: readonly string[];
  /** How perdure comes to the id of a conversation it begins. */
  readonly provenance: "assigned" | "minted";
  readonly config: {
    /** The variable that moves everything the vendor keeps to another folder. */
    readonly variable: string;
    /** What to set it to, so that a home is used which was furnished like any other. */
    dir(home: string): string;
    /** The conversations in that folder: a glob. */
    readonly transcripts: string;
    /** Whether a file is a conversation's, where its name does not have the whole id. */
    readonly isOf?: (file: string, session: string) => boolean;
  };
  /** Makes a file of a conversation what it would be if that had begun a minute earlier, where its name tells the minute. */
  readonly age?: (file: string) => void;
  /** The tool that runs a command in a shell, and the arguments with which nobody is asked before it runs. */
  readonly shell: {
    readonly args: Readonly<Record<Mode, readonly string[]>>;
    call(command: string): string;
    /** Null when `cd` moves the agent itself; else what it does instead. */
    readonly stays: string | null;
  };
  /** Arguments of the user's that must survive, and how they show: in the request, and in what is written down of a turn. */
  readonly settings: {
    readonly args: Readonly<Record<Mode, readonly string[]>>;
    readonly model: string;
    readonly permissions: RegExp;
    /** Permissions show in what the model is told, not in what is written down. */
    readonly told?: true;
  };
  /** The transcript does not say which version wrote it. */
  readonly tellsNoVersion?: true;
  /** Killed before anything was said, it takes the id no more: why. */
  readonly spendsIds?: string;
  /** Arguments or settings of the user's which perdure would add itself. */
  readonly ours: Readonly<Record<Mode, (home: string) => readonly string[]>>;
  /** Fails if they were not heeded. */
  readonly oursKept?: (home: string) => void;
  /** Arguments that choose the provider of the model; null when arguments do not. */
  readonly provider: ((modelUrl: string) => readonly string[]) | null;
  /** In a git project a new conversation may get a folder of its own: the question, and the keys that say yes. */
  readonly ownFolder: { readonly question: RegExp; readonly keys: readonly string[] } | null;
  /** What the program says when a conversation is open elsewhere; null for one that opens it all the same. */
  readonly refusesSecond: RegExp | null;
  /** The last turn before a kill in the middle of it: still told to the model later? */
  readonly keepsUnanswered: boolean;
  /** Letters, or letters and modes ("d tui"), of what cannot be done with this vendor, with the reason. */
  readonly cannot: Readonly<Record<string, string>>;
}

export const TRAITS: Readonly<Partial<Record<VendorName, Traits>>> = { claude, codex, gemini };
