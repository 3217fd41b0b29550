import type {
  FoundConversation,
  Holder,
  Outward,
  SessionLocation,
  Sign,
  Transcript,
  Variables,
} from "../protocol/records/conversation.ts";
import type { MissingVariable } from "../protocol/records/environment.ts";
import type { Environment } from "../util/environment.ts";
import type { Relocation } from "./shared/relocation.ts";
import type { DeliveryFacet } from "./delivery.ts";
import type { AskProgram, LaunchFile, LaunchPlan, MintRequest, PlanRequest } from "./launch-plan.ts";
import type { BlockedExitForms } from "./shared/blocked-exit.ts";
import type { RecordingContext, RecordingOff } from "./shared/recording.ts";
import type { Dialog, MarkedLine } from "./shared/screen.ts";
import type { Line, SplitReader } from "./shared/split.ts";
import type { TurnFacet } from "./turn.ts";

export type { AskProgram, ProgramAnswer } from "./launch-plan.ts";

/**
 * An adapter is all that perdure knows of one vendor's program. Each vendor has one folder, and nothing outside of
 * src/vendors knows a vendor's name. The facets follow the life of a conversation: how the program is started, where
 * its conversations lie, what a live process shows, what its terminal shows, how mail reaches its model, and how it makes one turn
 * without a terminal. A new kind of knowledge is a new facet.
 */
export interface Adapter {
  readonly vendor: string;
  /** The program that runs for `--vendor NAME`, with the words before its arguments. */
  readonly command: readonly string[];
  /** The versions of the program that the tests ran with. */
  readonly tested: readonly string[];
  /**
   * The reason why nothing here was ever seen with the real program; null when it was. `doctor`, `ls` and the docs say
   * it.
   */
  readonly unproved: string | null;
  readonly launch: LaunchFacet;
  readonly storage: StorageFacet;
  readonly liveness: LivenessFacet;
  /** A vendor whose terminal nobody reads has no screen facet. */
  readonly screen?: ScreenFacet;
  /** A vendor without a delivery facet gets its mail by `perdure inbox` alone. */
  readonly delivery?: DeliveryFacet;
  /** A vendor without a turn facet has no process-free mode: its workers run in a terminal. */
  readonly turn?: TurnFacet;
}

/** The launch facet says how the program is started, in which conversation, and with which environment. */
interface LaunchFacet {
  /** Reads the user's arguments: what the start is for, and what in them perdure must refuse. */
  readArgs(args: readonly string[]): ArgsInfo;
  /** Returns the user's options without what is said, by which two starts are compared; absent where nobody knows them. */
  options?(args: readonly string[]): string[];
  /** Makes the command line and the files of one start. It is pure, and touches nothing of the user's. */
  plan(request: PlanRequest): LaunchPlan;
  /** Adds the daemon's tools to a planned start, beside the user's own MCP servers; absent for a program that knows no MCP. */
  withTools?(plan: LaunchPlan, request: PlanRequest): LaunchPlan;
  /**
   * The id of a conversation is assigned by perdure and given to the program, or minted by the program before the
   * start.
   */
  readonly identity:
    | { kind: "assigned"; choose(): string }
    | { kind: "minted"; mint(request: MintRequest): Promise<string> };
  /** A conversation can be branched: by a plan with the step "fork", or by minting from another conversation. */
  readonly forks: boolean;
  /** The program can be told at its start what is said first in a new conversation. */
  readonly takesFirstPrompt: boolean;
  /** The path of an extension of ours that the program's user can load by hand, where perdure did not start it. */
  readonly extensionByHand?: string;
  /** Makes the file that lets the launch's first hook say this text to the agent. */
  startMessage?(text: string): LaunchFile;
  /**
   * Without a terminal the program makes that text one with what its user says, and leaves both out when it resumes: nothing is said at
   * such a start.
   */
  readonly startMessageEatsPrompt?: true;
  /**
   * Returns the variables that the program's own settings name for what every turn of this start needs, such as the key of its model
   * provider. Only settings that the real program is known to have are read.
   */
  namedVariables?(context: RecordingContext): MissingVariable[];
  /** Returns the values that variables had before a launch changed them for its own process. */
  restoredEnv?(env: Environment): Variables;
  /** How settings that the program has saved in the run's folder come home; absent where it saves them in the user's own file. */
  readonly savedSettings?: SavedSettings;
  /** The program is a loader that swallows TERM and HUP: the signals have to go to the process that it has loaded. */
  readonly loaderSwallowsSignals?: true;
}

/** The settings of a program that runs on a copy of its user's: what the user changes inside the program lands in the copy. */
interface SavedSettings {
  /** The copy, as a path inside the run's folder. */
  readonly file: string;
  /** Puts what was changed in the copy since the last time into the user's own file, and nothing of ours; null if nothing was. */
  merge(runDir: string, configDir: string): MergedSettings | null;
  /** Returns the files beside the user's own in which changes were left that could not be put into it. */
  leftBeside(configDir: string): string[];
}

export interface MergedSettings {
  /** The user's own file. */
  file: string;
  /** The settings that were changed, without their values, which may be secret. */
  settings: string[];
  /** The reason why they could not be put into the user's own file, and the file in which they are instead; null if they could. */
  kept: { problem: string; file: string } | null;
}

/** The storage facet says where the program keeps its conversations, and in which state one of them is. */
interface StorageFacet {
  /** Returns the folder in which the program keeps its conversations, given this environment. */
  configDirOf(env: Environment): ConfigDir;
  /** Looks, read only, at what is on disk for a conversation. `lastSeen` is the file in which it was found before. */
  probe(location: SessionLocation, lastSeen: string | null, ask: AskProgram): Promise<Transcript>;
  /**
   * Returns the folder in which the program makes the transcript of a new conversation, or its database, as far down as that is known;
   * it need not exist. Absent where nobody knows it.
   */
  writesTo?(place: Pick<SessionLocation, "configDir" | "launchCwd">): string;
  /**
   * Returns the vendor's folder, or its database, that a transcript lies in; null for a path of another form. A process that shows
   * the conversation's id in another place has a copy of it open. Absent where no sign tells the place.
   */
  readonly placeOf?: (transcript: string) => string | null;
  /** A probe runs the vendor's program, which takes a second: it is not made while a run goes on. */
  readonly slowProbe?: true;
  /** The transcript shows what the tools of MCP returned, word for word. */
  readonly showsToolResults?: true;
  /** Lists the conversations in the folder, whoever began them, newest first. */
  list(configDir: string, limit: number, ask: AskProgram): Promise<FoundConversation[]>;
  /**
   * The variables with which the program is asked, so that it loads nothing from the folder it is asked in: a repository that
   * nobody has begun to work in may hold plugins. Needed by a program that loads code for a mere question.
   */
  readonly askedWith?: Variables;
  /** Finds the later files of a conversation, in which the program goes on, by their paths; absent where it goes on in the first one. */
  laterFiles?(location: SessionLocation): Promise<string[]>;
  /** How the program takes lines out of a transcript by itself; absent for one that does nothing but append. */
  readonly takesBack?: TakesBack;
  /** Returns after how many days without use the program deletes a conversation by itself; null when it never does. */
  sweepsAfterDays?(configDir: string): number | null;
  /**
   * Returns the variable or the setting that would keep a start from recording its conversation; null when none does. Only what
   * was seen with the real program is known here; for the rest, a run that recorded nothing is noticed at its end.
   */
  unrecordedBy?(context: RecordingContext): RecordingOff | null;
  /**
   * The arguments with which a program that keeps a database prints a conversation, and takes a printed one in again. `missing`
   * counts the messages of one that was printed earlier which are not in the one that is printed now; `lost` those of them that the
   * program does not take back for its user.
   */
  readonly archive?: {
    print(session: string): string[];
    takeIn(file: string): string[];
    missing(earlier: string, now: string): number;
    lost(earlier: string, now: string): number;
  };
  /** Returns the command that brings back a conversation which its user has archived, so that it cannot be resumed; else null. */
  archivedBy?(location: SessionLocation): Promise<string | null>;
  /** The program appends to whatever the file ends with, half a line too, which makes that line and its own unreadable. */
  readonly gluesToTornLine?: true;
  /** Finds splits and gaps; only for a vendor that keeps a conversation as a tree, of which a resume sees one side only. */
  readonly split?: SplitReader;
  /** The lines, each by how it begins, with which the program says at its end that it does not resume the conversation. */
  readonly refusals?: readonly RegExp[];
  /** How a conversation is continued in another folder; absent for a program that finds one from any folder. */
  readonly relocation?: Relocation;
  /** The reason why no copy of a conversation can be kept. */
  readonly noCopyReason?: string;
}

/**
 * The lines that a program takes out of a transcript by itself, as its code has it or it was seen to do. Whatever else is gone from a
 * transcript is damage.
 */
export interface TakesBack {
  /** Returns what has to be known of a line: the lines themselves may be long, and many. */
  readonly read: (line: Line) => Line;
  /** Tells whether the program itself has taken out these lines, given those that the transcript has from the first difference on. */
  readonly judge: (gone: readonly Line[], left: readonly Line[]) => boolean;
}

/** The liveness facet says how a running program shows which conversation it is in, and what it is doing. */
interface LivenessFacet {
  /**
   * Returns the folder in which live processes leave their signs, so that it can be watched; null when there is none.
   */
  watchDir(configDir: string): string | null;
  /**
   * Returns what one process of a run shows of its conversation: a registry entry, a lock, an open file. Each sign says
   * whether the conversation is open, which has to be seen with the real program, or only echoes the command line.
   */
  inspect(configDir: string, pid: number, processes: ProcessView): Sign[];
  /** Returns the live processes that have a conversation open, the worker's own included. */
  holders(location: SessionLocation, processes: ProcessView): Holder[] | Promise<Holder[]>;
  /** Reads what an injected hook was told; null when it says nothing about the conversation. */
  onHook?(event: Readonly<Record<string, unknown>>): Sign | null;
  /** The events that `onHook` reads are left by code inside the program's process, and not by a command that anybody in the run can call. */
  readonly tellsItself?: true;
  /**
   * Subscribes to a program that shows nothing on disk and tells its signs itself. The returned function unsubscribes.
   */
  listen?(
    run: { runDir: string; session: string },
    onSign: (sign: Sign) => void,
    onActivity: (outward: Outward) => void,
  ): () => void;
  /**
   * Reads a line of the transcript that says when a turn began or ended, for a program that does not tell it otherwise; null for
   * every other line.
   */
  readonly readTurn?: (line: Readonly<Record<string, unknown>>) => WrittenTurn | null;
  /** Returns the signs that a killed process has left behind: where it was at its end. */
  leftovers?(configDir: string, process: { pid: number; startedAt: string }): Sign[];
}

/** The screen facet says what the program's terminal shows, for what its process does not tell by itself. */
export interface ScreenFacet {
  /** Reads the title of the terminal; null when the title says nothing that is known. */
  title?(title: string): Outward | null;
  /** Dialogs that the program shows before its process has left any sign. */
  readonly dialogs?: readonly Dialog[];
  /** The lines with which the program says that a login or a limit keeps it from going on. */
  readonly blockedExit?: BlockedExitForms;
  /**
   * The line with which the program says that it could not write its transcript, so that the conversation lacks something from then on,
   * or is recorded no more; its first group is the words. For one that goes on answering: its user may never see that line.
   */
  readonly stopsRecording?: MarkedLine;
  /** The program tells of a failed turn on its screen alone, so the screen is read at the end of every turn. */
  readonly failsOnScreenOnly?: true;
  /** The remedy against an error, by its words; `$1` is what the form has captured. */
  readonly remedies?: readonly (readonly [line: RegExp, remedy: string])[];
}

/** The beginning or the end of a turn, as the program has written it to its transcript. */
export interface WrittenTurn {
  outward: Outward;
  /** The time by the wall clock at which it was written. */
  atMs: number;
  /** The agent's last words in it, where the line tells them. */
  said?: string | undefined;
}

/** The purpose of the arguments of one start. */
export interface ArgsInfo {
  /** False for `--version`, `mcp list` and the like: such a start is for no conversation. */
  converses: boolean;
  /** Nobody sits in front of the program. */
  headless: boolean;
  /** The first argument that would choose a conversation itself, with the reason against it. */
  conflict: string | null;
}

/** The folder of a vendor's conversations, and the variables that lead the program to it. */
export interface ConfigDir {
  dir: string;
  variables: Variables;
}

/** The part of the machine's process table that an adapter needs. */
export interface ProcessView {
  inspect(pid: number): { pid: number; parentPid: number; startedAt: string } | null;
  openFiles(pid: number): string[];
  /** Returns the processes that hold a lock of the kernel on the file. */
  lockHolders(file: string): Promise<number[]>;
  /** Returns the command lines of all processes of this user, as far as they can be read. */
  commandLines(): readonly CommandLine[];
  /** Keeps an answer for a while, in a view that keeps its answers. */
  memo?<T>(key: string, make: () => T): T;
}

interface CommandLine {
  pid: number;
  argv: readonly string[];
}
