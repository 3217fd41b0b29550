/**
 * Says how a conversation is continued in another folder than it began in, for a program that looks for conversations by
 * folder. The functions `place` and `rewrite` are pure: they know only what they are given, so that they also hold for a
 * conversation that comes from another machine.
 */
export type Relocation = FileRelocation | ArchiveRelocation;

/** A transcript is a file whose place, or whose first line, names the folder. */
export interface FileRelocation {
  readonly kind: "file";
  /** Reads the small files, by their paths in the config dir, that say which folder's conversations lie where. */
  readIndex?(configDir: string): Promise<VendorIndex>;
  /** Says where a transcript has to lie, and how it has to begin, to be found from the folder. */
  place(request: PlaceRequest): Placement;
}

/** A program with a database prints a conversation and takes a printed one in again. */
export interface ArchiveRelocation {
  readonly kind: "archive";
  /** Returns the printed conversation as one of the folder; null when it cannot be read. */
  rewrite(printed: string, folder: string): string | null;
}

/** The texts of a vendor's small files, by their paths in the config dir. */
export type VendorIndex = Readonly<Record<string, string>>;

export interface PlaceRequest {
  /** The transcript's path in the config dir. */
  path: string;
  firstLine: string;
  /** The folder that the program will be started in. */
  folder: string;
  index: VendorIndex;
}

export type Placement =
  | {
      path: string;
      firstLine: string;
      /** Small files without which the program would not look there; one that exists is left as it is. */
      files: readonly { path: string; text: string }[];
    }
  /** The reason why the conversation cannot be continued in the folder. */
  | { impossible: string };
