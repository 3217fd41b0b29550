import type { Variables } from "./conversation.ts";

// A claim that was granted, and the launch that the daemon decided on for it.

/** A claim that was granted: the name, the run that has it now, and what to start. */
export interface ClaimGrant {
  address: string;
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
  socket: string;
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
  session: { vendor: string; id: string; step: LaunchStep; restored: Restored | null } | null;
}

/** A launch begins a new conversation, resumes the worker's own, or branches another worker's. */
export type LaunchStep = "new" | "resume" | "fork";

/** The vendor had lost the conversation, and it was put back from the copy that was kept. */
export interface Restored {
  bytes: number;
  /** Bytes that were written after the last copy, and are lost. */
  missingBytes: number;
}

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
