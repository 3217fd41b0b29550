import type { Environment } from "../util/environment.ts";
import type {
  Declared,
  FoundConversation,
  Holder,
  Outward,
  SessionLocation,
  Sign,
  Transcript,
  Variables,
} from "../protocol/records/conversation.ts";
import type { HeldForms } from "./shared/blocked-exit.ts";
import type { Dialog } from "./shared/screen.ts";

/**
 * All that is known of one vendor's program. One file per vendor; nothing outside this folder knows a vendor's name.
 *
 * probe: what is on disk, read only. plan: the command line, pure. prove: which signs mean what. hooks: what is injected
 * for one launch, without touching anything of the user's.
 */
export interface Adapter {
  readonly vendor: string;
  /** What runs for `--vendor NAME`, before the arguments. */
  readonly command: readonly string[];
  /** Versions of its program that the tests ran with. */
  readonly tested: readonly string[];
  /** Why nothing of this was ever seen with the real program; null when it was. Said by `doctor`, `ls` and the docs. */
  readonly unproved: string | null;
  /** Variables that speak of one process or one conversation: a worker started from inside another must not get them. */
  readonly leaks: readonly string[];
  /** What those variables must be outside of a worker of this vendor, where a launch has changed them for its own. */
  restored?(env: Environment): Variables;
  /** A loader stands in front that swallows TERM and HUP: they have to reach what it has loaded. */
  readonly deafLoader?: true;

  read(args: readonly string[]): Reading;
  /** Where the vendor keeps its conversations, given this environment. */
  config(env: Environment): ConfigDir;

  /** The id is chosen by us and given to the vendor, or made by the vendor before the start. */
  readonly identity:
    | { kind: "assigned"; choose(): string }
    | { kind: "minted"; mint(request: MintRequest): Promise<string> };

  /** Whether a conversation can be branched: by a plan with the step "fork", or by minting from another one. */
  readonly forks: boolean;

  probe(place: SessionLocation, lastSeen: string | null, ask: Ask): Promise<Transcript>;
  /** What is on disk is known to its own program alone, which takes a second to say it: not asked while a run goes on. */
  readonly costly?: true;
  /** The conversations in its folder, whoever began them, newest first. */
  list(configDir: string, limit: number, ask: Ask): Promise<FoundConversation[]>;
  /** Other files that belong to a conversation and without which its transcript is of no use. */
  companions?(transcript: string): string[];
  /** After how many days without a word it deletes a conversation by itself; null: never. */
  sweepsAfterDays?(configDir: string): number | null;
  /** Why no copy can be kept of its conversations. */
  readonly uncopied?: string;
  /** For one that keeps a database: the words with which its program prints a conversation, and takes it in again. */
  readonly archive?: { print(session: string): string[]; takeIn(file: string): string[] };
  /** Live processes that have it open, ours included. */
  holders(place: SessionLocation, processes: ProcessView): Holder[];

  plan(request: PlanRequest): LaunchPlan;
  /** Takes what is said first in a new conversation at its start; for a declared program, where its words have a place for it. */
  readonly firstPrompt: boolean;

  /** The folder in which its live processes leave their signs: a change there is worth a look. Null for none. */
  signs(configDir: string): string | null;
  /** What one of its own processes shows by being there: a registry, a lock, an open file. None: nothing yet. */
  look(configDir: string, pid: number, processes: ProcessView): Sign[];
  /** Lets itself be told by the running program, for one that shows nothing by itself. What it returns ends it. */
  listen?(run: { runDir: string; session: string }, heard: (sign: Sign) => void): () => void;
  /** What a process that was killed has left behind: where it was at its end. */
  remains?(configDir: string, process: { pid: number; startedAt: string }): Sign[];
  /** What an injected hook was told. Null: of no interest. */
  hear?(event: Readonly<Record<string, unknown>>): Sign | null;
  /** What the title of its terminal tells, for one that puts it there. Null: nothing that is known. */
  title?(title: string): Outward | null;
  /** Dialogs of its screen that come before its process tells anything by itself. */
  readonly dialogs?: readonly Dialog[];
  /** How it says on its screen that it cannot go on. */
  readonly held?: HeldForms;
  /** A file that makes the launch's first hook say this to the agent. */
  tell?(text: string): LaunchFile;
}

/** What the arguments are for. */
export interface Reading {
  /** False for `--version`, `mcp list` and the like: such a run is in no conversation. */
  converses: boolean;
  /** Nobody sits in front of it. */
  headless: boolean;
  /** An argument that would choose a conversation itself. */
  conflict: string | null;
}

export interface ConfigDir {
  dir: string;
  variables: Variables;
}

/** Runs the vendor's own program with these arguments, in the environment of the worker, and waits for its end. */
export type Ask = (args: readonly string[]) => Promise<Answer>;

export interface Answer {
  /** Null for one that was ended because it took too long. */
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface PlanRequest {
  /** "fork": begin as a branch of `from`, under an id of our choice. */
  step: "new" | "resume" | "fork";
  from: { session: string; transcript: string | null } | null;
  session: string;
  name: string;
  args: readonly string[];
  /** What to say first: null in a conversation that goes on or is a branch. Not said where nobody sits in front. */
  prompt: string | null;
  runDir: string;
  configDir: string;
  /** For a program without an adapter of its own: how it is told. */
  declared: Declared | null;
  /** Where its transcript was found; null for one that has none yet. */
  transcript: string | null;
  /** What the user has set, as far as it is a vendor's concern. */
  environment?: Environment;
}

export interface LaunchPlan {
  /** Instead of the user's arguments: theirs, in their order, with ours. */
  args: string[];
  /** Written into the run's folder before the start. */
  files: LaunchFile[];
  /** Folders in the run's folder in which everything of another one is linked, except what is in `files`. */
  mirrors?: Mirror[];
  /** Set for this launch, besides those that lead to its folder. */
  variables?: Variables;
  /** A port of this machine that nobody has takes the place of `FREE_PORT`, in the arguments and in the files. */
  freePort?: true;
}

export const FREE_PORT = "{free-port}";

export interface Mirror {
  /** In the run's folder. */
  name: string;
  of: string;
  /** Nothing else of it. */
  only?: string[];
  /** Not linked. */
  leave?: string[];
  /** Made in the other one if they are not there, so that what the program puts in them lands there. */
  folders?: string[];
  /** Linked even if they are not there: the program that writes one makes it in the other folder. */
  files?: string[];
}

export interface LaunchFile {
  name: string;
  text: string;
}

export interface MintRequest {
  /** The program and what stands before its arguments. */
  command: readonly string[];
  args: readonly string[];
  name: string;
  cwd: string;
  environment: Record<string, string>;
  /** The conversation to branch from. */
  from: string | null;
}

/** As much of the machine's processes as an adapter needs. */
export interface ProcessView {
  look(pid: number): { pid: number; parentPid: number; startedAt: string } | null;
  openFiles(pid: number): string[];
  /** Who holds a lock of the kernel on the file. */
  lockHolders(file: string): number[];
  /** Of every process of this user, as far as it can be read. */
  commandLines(): readonly CommandLine[];
  /** In a view that keeps its answers for a while: one more of them. */
  memo?<T>(key: string, make: () => T): T;
}

interface CommandLine {
  pid: number;
  argv: readonly string[];
}
