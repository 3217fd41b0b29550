import type { LiveSetup } from "./setup.ts";
import type { Traits } from "./traits.ts";

export type Mode = "headless" | "tui";

/** One promise, kept with the vendors' real programs. One file each in cases/; none of them knows a vendor's name. */
export interface Case {
  readonly letter: string;
  readonly title: string;
  readonly modes: readonly Mode[];
  /** Why it makes no sense in the other mode. */
  readonly elsewhere?: string;
  /** Why it makes no sense with a vendor of such traits; null if it does. */
  against?(traits: Traits): string | null;
  /** Runs at every change; the others with --all. */
  readonly core: boolean;
  /** The case is left out under --quick, with any vendor; or only in a terminal. */
  readonly unhurried?: true | "tui";
  /** The case takes long, so --quick runs it with the fastest vendor only. */
  readonly long?: true;
  run(setup: LiveSetup): Promise<void>;
}
