import type { Mode } from "./case.ts";
import type { VendorName } from "./harness/pins.ts";
import { claude } from "./cases/traits/claude.ts";
import { codex } from "./cases/traits/codex.ts";
import { opencode } from "./cases/traits/opencode.ts";
import { pi } from "./cases/traits/pi.ts";
import { copilot } from "./cases/traits/copilot.ts";
import { qwen } from "./cases/traits/qwen.ts";
import { gemini } from "./cases/traits/gemini.ts";

/** A vendor's traits that the cases depend on, besides those of harness/vendor.ts: data, one file each in cases/traits/. */
export interface Traits {
  /** Words behind all others in a terminal; what perdure adds by itself is not among them. */
  readonly interactive: readonly string[];
  /** How perdure comes to the id of a conversation it begins. */
  readonly provenance: "assigned" | "minted";
  /** The transcript says which version of the program wrote it. */
  readonly tellsVersion: boolean;
  /** The program overwrites its command line: its arguments are on that of its wrapper alone. */
  readonly hidesArguments: boolean;
  /** The program's own commands for the database that has all conversations; null for one that keeps files. */
  readonly database: Database | null;
  readonly config: {
    /** The variable that moves everything the vendor keeps to another folder. */
    readonly variable: string;
    /** The variable's value for a home that was configured like any other. */
    dir(home: string): string;
    /** The vendor's own folder in that one, if others share it. */
    readonly below?: string;
    /** The conversations in that folder: a glob. */
    readonly transcripts: string;
    /** Decides whether a file is a conversation's, where its name does not have the whole id. */
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
  /** How its user is brought to be asked in a terminal; null for one that asks nobody. */
  readonly asking: Asking | null;
  /** Arguments of the user's that must survive, and how they show: in the request, and in what is written down of a turn. */
  readonly settings: {
    readonly args: Readonly<Record<Mode, readonly string[]>>;
    readonly model: string;
    readonly permissions: RegExp;
    /** Permissions show in what the model is told, not in what is written down. */
    readonly told?: true;
  };
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
  /** Null when a new conversation in the same process shows at once; else when it does. */
  readonly renewsAtPrompt: string | null;
  /** The line to type for a new conversation that leaves a turn at work behind it, where there is such a thing. */
  readonly behind?: string;
  /** The program's message when a conversation is open elsewhere; null for one that opens it all the same. */
  readonly refusesSecond: RegExp | null;
  /** The program's question before it opens such a conversation in a terminal, and the keys that say yes; null if it asks nothing. */
  readonly secondAsks: { readonly question: RegExp; readonly keys: readonly string[] } | null;
  /** The last turn before a kill in the middle of it: still told to the model later? */
  readonly keepsUnanswered: boolean;
  /**
   * Cases of a vendor that is slow to start: those that run in a terminal without --all, those of them that --quick leaves out,
   * and those without a terminal that --quick runs.
   */
  readonly slow?: { readonly inTerminal: string; readonly unhurried: string; readonly quick: string };
  /** Letters, or letters and modes ("d tui"), of what cannot be done with this vendor, with the reason. */
  readonly cannot: Readonly<Record<string, string>>;
}

export interface Asking {
  readonly args: readonly string[];
  configure?(home: string): void;
  /** The prompt that makes the model call a tool that needs permission. */
  readonly call: string;
  readonly question: RegExp;
  readonly yes: readonly string[];
  /** The program tells perdure by itself; else its title is all there is. */
  readonly tells: boolean;
  /** The program asks whether to trust a folder that it does not know. */
  readonly distrusts?: { configure?(home: string): void };
}

export interface Database {
  /** Arguments that print the ids of all conversations, and what an id looks like. */
  readonly list: readonly string[];
  readonly id: RegExp;
  readonly print: (session: string) => readonly string[];
  readonly remove: (session: string) => readonly string[];
  readonly takeIn: (file: string) => readonly string[];
}

export const TRAITS: Readonly<Partial<Record<VendorName, Traits>>> = {
  claude,
  codex,
  gemini,
  copilot,
  opencode,
  pi,
  qwen,
};
