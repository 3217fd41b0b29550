import type { Declared, Variables } from "../protocol/records/conversation.ts";
import type { Environment } from "../util/environment.ts";

/** One start, as it is put to an adapter's `plan`. */
export interface PlanRequest {
  /** "fork" begins the conversation as a branch of `from`, under an id of our choice. */
  step: "new" | "resume" | "fork";
  from: { session: string; transcript: string | null } | null;
  session: string;
  name: string;
  args: readonly string[];
  /** The folder in which the program is started. */
  cwd: string;
  /**
   * The first prompt; null in a conversation that goes on or is a branch. It is not said where nobody sits in front.
   */
  prompt: string | null;
  runDir: string;
  configDir: string;
  /** The words that tell a custom program to begin and to resume; null for a vendor's program. */
  declared: Declared | null;
  /** The file in which the conversation's transcript was found; null for a conversation that has none yet. */
  transcript: string | null;
  /** The user's variables, as far as they concern a vendor. */
  environment?: Environment;
}

/** An adapter's answer: what one start runs, and what it finds in the run's folder. */
export interface LaunchPlan {
  /** The arguments of the start: the user's, in their order, with ours. */
  args: string[];
  /** Files that are written into the run's folder before the start. */
  files: LaunchFile[];
  /** Folders in the run's folder in which everything of another one is linked, except what is in `files`. */
  mirrors?: Mirror[];
  /** Variables of this launch, besides those that lead to the vendor's folder. */
  variables?: Variables;
  /** A free port of this machine takes the place of `FREE_PORT`, in the arguments and in the files. */
  freePort?: true;
}

export const FREE_PORT = "{free-port}";

export interface LaunchFile {
  /** The path inside the run's folder. */
  name: string;
  text: string;
}

export interface Mirror {
  /** The path inside the run's folder. */
  name: string;
  /** The folder whose entries are linked. */
  of: string;
  /** The only entries that are linked; all of them by default. */
  only?: string[];
  /** Entries that are not linked. */
  leave?: string[];
  /**
   * Folders that are made in the other folder if they are not there, so that what the program puts in them lands there.
   */
  folders?: string[];
  /** Files that are linked even if they are not there: the program that writes one makes it in the other folder. */
  files?: string[];
}

/** A conversation that a vendor's program is asked to open before the start. */
export interface MintRequest {
  /** The program and the words before its arguments. */
  command: readonly string[];
  args: readonly string[];
  name: string;
  cwd: string;
  environment: Record<string, string>;
  /** The conversation to branch from; null for a new one. */
  from: string | null;
}

/** Runs the vendor's own program with these arguments, in the environment of the worker, and waits for its end. */
export type AskProgram = (args: readonly string[]) => Promise<ProgramAnswer>;

export interface ProgramAnswer {
  /** The exit code; null for a program that was stopped because it took too long. */
  code: number | null;
  stdout: string;
  stderr: string;
}
