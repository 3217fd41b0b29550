import type { Environment } from "../../util/environment.ts";

/**
 * How a vendor's program is recognised among commands and processes. `whoami` loads it at every start, so it stays
 * small.
 */
export interface VendorProgram {
  vendor: string;
  /** The name of the program on PATH, and of the file that an interpreter runs. */
  program: string;
  /** The reason why nothing here was ever seen with the real program; absent when it was. */
  unproved?: string;
  /** How many processes of its own stand in a row, loaders first; one more of the same vendor is a nested agent. */
  chain: number;
  /** The npm package that holds the program; null when there is none. */
  package: string | null;
  /** Files of the package that an interpreter runs as the program, where they are not called like it. */
  scripts?: readonly string[];
  /** The variables that are recorded for later starts of the program, and those that no other worker may get. */
  environment: VendorEnvironment;
  /**
   * Tells whether a command line of the program is a background service of the vendor, which is shared by all that the user
   * runs and outlives whoever started it. It inherited the environment of a run by chance and belongs to none.
   */
  isService?(argv: readonly string[]): boolean;
  /** Reads the name that the user gave to the conversation this environment belongs to, where the vendor stores it readably. */
  conversationName?(env: Environment): string | null;
}

/**
 * The variables that a vendor's program lives on. A pane gets the recorded environment and nothing else, so a variable
 * that is missing here reaches no worker that a script has brought up, or whose user wants known variables recorded only.
 */
export interface VendorEnvironment {
  /** Keys, endpoints and config folders: a worker that is started later needs them as much as now. */
  recorded: readonly RegExp[];
  /**
   * Variables among those that belong to one process or session, besides those that every vendor's endings give away.
   */
  session?: readonly RegExp[];
  /**
   * Variables of one process or one conversation, by name: a worker that is started from inside another one must not get
   * them.
   */
  privateNames: readonly string[];
}
