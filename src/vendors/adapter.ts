import type { Environment } from "../protocol/environment.ts";
import type { Holder, SessionPlace, Sign, Transcript, Variables } from "../protocol/session.ts";

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
  /** Variables that speak of one process or one conversation: a worker started from inside another must not get them. */
  readonly leaks: readonly string[];

  read(args: readonly string[]): Reading;
  /** Where the vendor keeps its conversations, given this environment. */
  config(env: Environment): ConfigDir;

  /** The id is chosen by us and given to the vendor, or made by the vendor before the start. */
  readonly identity:
    | { kind: "assigned"; choose(): string }
    | { kind: "minted"; mint(request: MintRequest): Promise<string> };

  probe(place: SessionPlace, lastSeen: string | null): Promise<Transcript>;
  /** Live processes that have it open, ours included. */
  holders(place: SessionPlace, processes: ProcessView): Holder[];

  plan(request: PlanRequest): LaunchPlan;

  /** The folder in which its live processes leave their signs: a change there is worth a look. */
  signs(configDir: string): string;
  /** What one of its own processes shows by being there: a registry, a lock, an open file. None: nothing yet. */
  look(configDir: string, pid: number, processes: ProcessView): Sign[];
  /** What a process that was killed has left behind: where it was at its end. */
  remains?(configDir: string, process: { pid: number; startedAt: string }): Sign[];
  /** What an injected hook was told. Null: of no interest. */
  hear?(event: Readonly<Record<string, unknown>>): Sign | null;
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

export interface PlanRequest {
  step: "new" | "resume";
  session: string;
  name: string;
  args: readonly string[];
  runDir: string;
  /** Where its transcript was found; null for one that has none yet. */
  transcript: string | null;
}

export interface LaunchPlan {
  /** Instead of the user's arguments: theirs, in their order, with ours. */
  args: string[];
  /** Written into the run's folder before the start. */
  files: LaunchFile[];
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
}

/** As much of the machine's processes as an adapter needs. */
export interface ProcessView {
  look(pid: number): { pid: number; startedAt: string } | null;
  openFiles(pid: number): string[];
  /** Who holds a lock of the kernel on the file. */
  lockHolders(file: string): number[];
}
