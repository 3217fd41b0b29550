import type {
  FoundConversation,
  Holder,
  Outward,
  SessionLocation,
  Sign,
  Transcript,
  Variables,
} from "../protocol/records/conversation.ts";
import type { Environment } from "../util/environment.ts";
import type { LaunchFile, LaunchPlan, MintRequest, PlanRequest } from "./launch-plan.ts";
import type { BlockedExitForms } from "./shared/blocked-exit.ts";
import type { VendorEnvironment } from "./shared/program.ts";
import type { Dialog } from "./shared/screen.ts";

/**
 * An adapter is all that perdure knows of one vendor's program. Each vendor has one folder, and nothing outside of
 * src/vendors knows a vendor's name. The facets follow the life of a conversation: how the program is started, where
 * its conversations lie, what a live process shows, and what its terminal shows. A new kind of knowledge is a new
 * facet.
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
}

/** The launch facet says how the program is started, in which conversation, and with which environment. */
interface LaunchFacet {
  /** Reads the user's arguments: what the start is for, and what in them perdure must refuse. */
  readArgs(args: readonly string[]): ArgsInfo;
  /** Makes the command line and the files of one start. It is pure, and touches nothing of the user's. */
  plan(request: PlanRequest): LaunchPlan;
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
  /** Makes the file that lets the launch's first hook say this text to the agent. */
  startMessage?(text: string): LaunchFile;
  /** The variables that are recorded for later starts of the program, and those that no other worker may get. */
  readonly environment: VendorEnvironment;
  /** Returns the values that variables had before a launch changed them for its own process. */
  restoredEnv?(env: Environment): Variables;
  /** The program is a loader that swallows TERM and HUP: the signals have to go to the process that it has loaded. */
  readonly loaderSwallowsSignals?: true;
}

/** The storage facet says where the program keeps its conversations, and in which state one of them is. */
interface StorageFacet {
  /** Returns the folder in which the program keeps its conversations, given this environment. */
  configDirOf(env: Environment): ConfigDir;
  /** Looks, read only, at what is on disk for a conversation. `lastSeen` is the file in which it was found before. */
  probe(location: SessionLocation, lastSeen: string | null, ask: AskProgram): Promise<Transcript>;
  /** A probe runs the vendor's program, which takes a second: it is not made while a run goes on. */
  readonly slowProbe?: true;
  /** Lists the conversations in the folder, whoever began them, newest first. */
  list(configDir: string, limit: number, ask: AskProgram): Promise<FoundConversation[]>;
  /** Returns the other files of a conversation, without which its transcript is of no use. */
  companions?(transcript: string): string[];
  /** Returns after how many days without use the program deletes a conversation by itself; null when it never does. */
  sweepsAfterDays?(configDir: string): number | null;
  /**
   * The arguments with which a program that keeps a database prints a conversation, and takes a printed one in again.
   */
  readonly archive?: { print(session: string): string[]; takeIn(file: string): string[] };
  /** The reason why no copy of a conversation can be kept. */
  readonly noCopyReason?: string;
}

/** The liveness facet says how a running program shows which conversation it is in, and what it is doing. */
interface LivenessFacet {
  /**
   * Returns the folder in which live processes leave their signs, so that it can be watched; null when there is none.
   */
  watchDir(configDir: string): string | null;
  /** Returns what one process of a run shows of its conversation: a registry entry, a lock, an open file. */
  inspect(configDir: string, pid: number, processes: ProcessView): Sign[];
  /** Returns the live processes that have a conversation open, the worker's own included. */
  holders(location: SessionLocation, processes: ProcessView): Holder[];
  /** Reads what an injected hook was told; null when it says nothing about the conversation. */
  onHook?(event: Readonly<Record<string, unknown>>): Sign | null;
  /**
   * Subscribes to a program that shows nothing on disk and tells its signs itself. The returned function unsubscribes.
   */
  listen?(run: { runDir: string; session: string }, onSign: (sign: Sign) => void): () => void;
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

/** Runs the vendor's own program with these arguments, in the environment of the worker, and waits for its end. */
export type AskProgram = (args: readonly string[]) => Promise<ProgramAnswer>;

export interface ProgramAnswer {
  /** The exit code; null for a program that was stopped because it took too long. */
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The part of the machine's process table that an adapter needs. */
export interface ProcessView {
  inspect(pid: number): { pid: number; parentPid: number; startedAt: string } | null;
  openFiles(pid: number): string[];
  /** Returns the processes that hold a lock of the kernel on the file. */
  lockHolders(file: string): number[];
  /** Returns the command lines of all processes of this user, as far as they can be read. */
  commandLines(): readonly CommandLine[];
  /** Keeps an answer for a while, in a view that keeps its answers. */
  memo?<T>(key: string, make: () => T): T;
}

interface CommandLine {
  pid: number;
  argv: readonly string[];
}
