import type { WireName } from "../model/wire.ts";
import type { VendorName } from "./pins.ts";

/** A vendor's program as a test drives it: data, one file each in vendors/. */
export interface Vendor {
  readonly name: VendorName;
  readonly wire: WireName;
  /** The files its conversations are kept in: a glob, from HOME. */
  readonly transcripts: string;

  /** Writes the settings it needs into an empty HOME, so that nothing is asked; returns the variables it needs. */
  configure(home: string, modelUrl: string): Readonly<Record<string, string>>;
  /** Lets it work in a folder without asking whether to trust it; absent when it never asks. */
  trust?(home: string, folder: string): void;

  readonly session: {
    /** Arguments for a new session under an id chosen here; null when the program chooses ids itself. */
    begin: ((id: string) => readonly string[]) | null;
    resume(id: string): readonly string[];
    /** The header in which the model is told the session's id; null when it is not. */
    header: string | null;
  };
  /** Arguments before and after those of the session. */
  readonly headless: { before: readonly string[]; after(prompt: string): readonly string[] };
  readonly interactive: { before: readonly string[]; after: readonly string[] };

  /** The program takes a killed process for a live one until its parent has reaped it: a slow init takes seconds for that. */
  readonly countsZombiesAsLive?: boolean;

  readonly screen: {
    /** An input line with nothing in it: what was typed before has been taken, and there is no dialog in front. */
    empty: RegExp;
    /** Seen while a turn runs, and only then. */
    busy: RegExp;
    /** A paste makes it take Enter for a part of the text, for as long as it needs to draw it: text is typed instead. */
    typed?: true;
    /** The key that interrupts a turn, where Escape does not. */
    interrupt?: string;
    /** Seen after an Escape in a turn, where it takes a second one to interrupt that. */
    escapeAgain?: RegExp;
    /** The line to type for a new conversation in the same process. */
    fresh: string;
  };
}
