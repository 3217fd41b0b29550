import type { Mode } from "./case.ts";
import type { VendorName } from "./harness/pins.ts";
import type { Terminal } from "./harness/terminal.ts";
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
  /** Another vendor, with whose worker this one's talks. */
  readonly partner: VendorName;
  /** The name under which the model knows a tool of a server; ours is called `perdure`, unless its user has a server of that name. */
  toolName(tool: string, server?: string): string;
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
  /** How a turn fails for want of a login or by a limit. */
  readonly failures: Failures;
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
  /** The variable of a name of its user's own that its settings in the test bed take the key of the provider from. */
  readonly namedKey?: string;
  /** Killed before anything was said, it takes the id no more: why. */
  readonly spendsIds?: string;
  /** Arguments or settings of the user's which perdure would add itself. */
  readonly ours: Readonly<Record<Mode, (home: string) => readonly string[]>>;
  /** Fails if they were not heeded. */
  readonly oursKept?: (home: string) => void;
  /** Sets hooks of the user's own in the program's settings, on events that perdure hooks too. */
  ownHooks(home: string, project: string): OwnHooks;
  /** How its user has servers of MCP of their own, and where all the settings lie that nobody but the user may change. */
  readonly ownServers: {
    /** Sets them in the program's own settings, so that nobody is asked before a call. */
    add(home: string, servers: Readonly<Record<string, readonly string[]>>): void;
    /** Arguments of a user who is not asked before a call. */
    args(servers: readonly string[]): readonly string[];
    /** The settings: globs, from HOME. */
    readonly settings: readonly string[];
    /** Parts of files that the program writes at every start, by the file: only those are the user's settings. */
    readonly within?: Readonly<Record<string, (text: string) => unknown>>;
  };
  /** How its user changes a setting inside the program, in a terminal. */
  readonly changing: {
    /** The line that is typed. */
    readonly line: string;
    /** The screens that follow, one after the other, and the keys that are pressed at each. */
    readonly steps: readonly { readonly sees: RegExp; readonly press: readonly string[] }[];
    /** The screen when the change is made. */
    readonly done: RegExp;
    /** The file that has it then, from HOME, and how. */
    readonly file: string;
    readonly saved: RegExp;
  };
  /** Arguments that choose the provider of the model; null when arguments do not. */
  readonly provider: ((modelUrl: string) => readonly string[]) | null;
  /** In a git project a new conversation may get a folder of its own: the question, and the keys that say yes. */
  readonly ownFolder: { readonly question: RegExp; readonly keys: readonly string[] } | null;
  /** Null when a new conversation in the same process shows at once; else when it does. */
  readonly renewsAtPrompt: string | null;
  /** The line to type for a new conversation that leaves a turn at work behind it, where there is such a thing. */
  readonly behind?: string;
  /** Arguments with which a user chooses a conversation: the newest, and one by its id or its file. */
  readonly choosing: { readonly newest: readonly string[]; resume(id: string, file: string): readonly string[] };
  /** The program's message when a conversation is open elsewhere; null for one that opens it all the same. */
  readonly refusesSecond: RegExp | null;
  /** Two processes in one conversation split it: a later resume goes on with what one of them said, and leaves out the other. */
  readonly splits: boolean;
  /** The program's question before it opens such a conversation in a terminal, and the keys that say yes; null if it asks nothing. */
  readonly secondAsks: { readonly question: RegExp; readonly keys: readonly string[] } | null;
  /**
   * Nothing of ours runs between the program's steps: without a terminal it is told mail at its start alone, and in one by its own queue,
   * as a turn that goes on where the one under way was, which then has no answer of its own.
   */
  readonly noHooks?: true;
  /** The program is woken by its terminal alone, so only where that is a pane of perdure's own. */
  readonly wokenInPane?: true;
  /** How its user brings it to take nothing by its wake channel, so that it is woken in a pane alone. */
  readonly closesWake?: {
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
    readonly configure: (home: string) => void;
  };
  /** Where a program that then holds back what others write to its socket tells the socket, its question, and the keys that say no. */
  readonly heldFrame?: { readonly registry: string; readonly question: RegExp; readonly no: readonly string[] };
  /** The program's own command that names a conversation, where it tells the name to others; null else. */
  readonly naming: string | null;
  /** The ways in which code of ours in the program serves the person in front of it; absent where there is none. */
  readonly person?: Person;
  /** A conversation can be kept in a file that the caller chooses. */
  readonly fileOfChoice?: true;
  /**
   * Installs a stand-in for the stock extension by which its sessions see each other: by the variables of that, a session has a name, a
   * stable id and a scope. The command lists the other sessions of the scope, as `Sessions in SCOPE: ID as NAME, ….`
   */
  readonly peers?: (home: string) => { readonly command: string };
  /**
   * The keys with which its user takes the last turn back, and what the screen shows then; absent where the program writes a rewind
   * behind everything else in the same file.
   */
  readonly rewind?: {
    readonly steps: readonly { readonly keys: readonly string[]; readonly shows: RegExp }[];
    /** The program goes on in another file, or takes the turn out of the one it has. */
    readonly writes: "another file" | "the same file";
  };
  /** The last turn before a kill in the middle of it: still told to the model later? */
  readonly keepsUnanswered: boolean;
  /** Arguments that archive a conversation, so that it is not resumed, and those that bring it back; absent where nothing does. */
  readonly archiving?: {
    readonly put: (session: string) => readonly string[];
    readonly back: (session: string) => readonly string[];
  };
  /** The program goes on without its transcript when it cannot write it, and ends with 0: a turn is lost in silence. */
  readonly losesSilently?: true;
  /** The words in which its screen says that it records nothing more, after a write that failed once; absent where it tries again. */
  readonly stopsRecording?: RegExp;
  /** Each run has a home of its own, with links to the user's. */
  readonly hasRunHome?: true;
  /** The words in which its screen says that it cannot write, for one that tries again and leaves out what it could not write. */
  readonly failsToRecord?: RegExp;
  /** The ways to turn the recording of conversations off; null where none is known. */
  readonly unrecorded: Unrecorded | null;
  /**
   * Cases of a vendor that is slow to start: those that run in a terminal without --all, those of them that --quick leaves out,
   * and those without a terminal that --quick runs; each a list of letters with blanks between them.
   */
  readonly slow?: { readonly inTerminal: string; readonly unhurried: string; readonly quick: string };
  /** The vendor starts fastest: with it, --quick runs the cases that it runs with one vendor only. */
  readonly fastest?: true;
  /** Letters, or letters and modes ("d tui"), of what cannot be done with this vendor, with the reason. */
  readonly cannot: Readonly<Record<string, string>>;
}

export interface OwnHooks {
  /** The files of the settings. */
  readonly settings: readonly string[];
  /** The files that the hooks leave at every turn. */
  readonly marks: readonly string[];
  /** Arguments of the user's that set one more. */
  readonly args?: readonly string[];
}

interface Unrecorded {
  /** Arguments, variables and settings that perdure knows of, each with a part of what it says about it. */
  readonly known: readonly {
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    /** Writes the settings; returns a function that takes them back. */
    readonly configure?: (home: string, project: string) => () => void;
    readonly says: string;
  }[];
  /** A shell script in front of the program that does it where perdure cannot see it; null where the program then refuses itself. */
  readonly behind: { readonly script: string } | null;
}

interface Person {
  /** Our command inside the program. */
  readonly command: string;
  /** The ways to open our list. */
  readonly openedBy: readonly ((terminal: Terminal) => Promise<void>)[];
  /** The arguments with which the program loads an extension by hand. */
  loads(extension: string): readonly string[];
  /** Installs an extension by somebody else for messages between agents, with the names that the widespread one takes. */
  neighbour(home: string): {
    readonly tool: string;
    readonly openedBy: readonly ((terminal: Terminal) => Promise<void>)[];
    /** The title of its list. */
    readonly says: string;
    /** Returns its line, which has the variables with which perdure pins its identity. */
    statusLine(project: string, name: string): string;
  };
}

interface Failures {
  /** Variables with which the program gives up after a try or two: by itself some retry for minutes. */
  readonly env?: Readonly<Record<string, string>>;
  /** The words after a 401. */
  readonly refused: RegExp;
  /** A directive for an error by a limit, and the words after it; null for one that retries for longer than a test waits. */
  readonly limited: { readonly directive: string; readonly says: RegExp } | null;
  /** The variable without which it has no login, and the words after that; absent where a dialog comes instead. */
  readonly withoutLogin?: { readonly unset: string; readonly says: RegExp };
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
  readonly distrusts?: { configure?(home: string, folder: string): void };
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
