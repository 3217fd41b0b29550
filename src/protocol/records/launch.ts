import type { MissingVariable } from "./environment.ts";
import type { Variables } from "./conversation.ts";
import type { Restored } from "./restored.ts";

// A claim that was granted, and the launch that the daemon decided on for it.

/** A claim that was granted: the name, the run that has it now, and what to start. */
export interface ClaimGrant {
  address: string;
  /** The id of the worker, which stays when it is renamed; a daemon of an earlier version does not say. */
  uid?: string;
  project: string;
  name: string;
  run: string;
  generation: number;
  token: string;
  /** The command as the operator gave it. */
  command: string[] | null;
  cwd: string | null;
  /** Either `launch` or `mint` is set for a program; neither is for a library's claim. */
  launch: LaunchOrder | null;
  mint: MintOrder | null;
  /** Earlier runs of the worker, newest first: one of them may have left a context file behind. */
  earlierRuns: string[];
  /** The folder in which the wrapper leaves the exit code. */
  runDir: string;
  wrapper: "env" | "bash" | "plain";
  /** The project's `[pi] scope`; null without one. A daemon of an earlier version does not say. */
  intercomScope?: string | null;
  socket: string;
}

interface LaunchedSession {
  vendor: string;
  id: string;
  step: LaunchStep;
  restored: Restored | null;
  /** The store is a copy as of this time, and the worker may have run since; absent where it is not. */
  knownUntil?: string;
}

/** The start that the daemon decided on, carried out by whoever claimed. */
export interface LaunchOrder {
  command: string[];
  cwd: string;
  /** Variables of the program's environment; null for one that must not be set. */
  variables: Variables;
  /** Files that are written into the run's folder first. */
  files: { name: string; text: string }[];
  /** Folders in the run's folder that show what is in another one. */
  mirrors: {
    name: string;
    of: string;
    only?: string[];
    leave?: string[];
    folders?: string[];
    files?: string[];
  }[];
  /** A free port is wanted in the command and in the files. */
  freePort: boolean;
  session: LaunchedSession | null;
  /** The text that tells the agent of itself and its peers at its start; a daemon of an earlier version does not say. */
  introduction?: string | null;
  /**
   * The file from which the program's first hook tells the agent the introduction, and nothing else; null if nothing is said. A daemon
   * of an earlier version does not say.
   */
  startMessage?: { name: string; text: string } | null;
  /** Tells how the wrapper has to treat the vendor's program; a daemon of an earlier version does not say. */
  wrapping?: { loaderSwallowsSignals: boolean; slowVerdict: boolean };
  /** The program is headless, and its end will show whether it was in the conversation; a daemon of an earlier version does not say. */
  judged?: boolean;
  /** The place of the vendor's program in the command; a daemon of an earlier version does not say. */
  programAt?: number;
  /** The variables that the program's own settings name and that were not given with the claim; absent when there are none. */
  lacks?: MissingVariable[];
}

/** A launch begins a new conversation, resumes the worker's own, or branches another worker's. */
export type LaunchStep = "new" | "resume" | "fork";

/** Tells the claimer to have the vendor make an id of its own, and to bind it to the run with `bindConversation`. */
export interface MintOrder {
  vendor: string;
  command: string[];
  args: string[];
  cwd: string;
  variables: Variables;
  /** The conversation to branch from; null for a new one. */
  from: string | null;
}
