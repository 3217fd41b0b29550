// A conversation that was put back: from the copy, because the vendor had lost it, or to one side of a split.

/** The vendor had lost the conversation, and it was put back from the copy that was kept. */
export interface Restored {
  bytes: number;
  /** Bytes that were written after the last copy, and are lost. */
  missingBytes: number;
  /** The time of the copy, if a run was in the conversation since: what that run wrote later is lost, and nobody knows how much. */
  behindSince?: string;
  /** The file with what was set aside, where the worker's own side was taken of a split. */
  aside?: string;
}

/** A restore, with its time. */
export interface RestoredAt extends Restored {
  at: string;
}

/** Says what a restored conversation lacks: the end of a sentence, or nothing. */
export function missingIn({ missingBytes, behindSince }: Restored): string {
  if (missingBytes > 0) return `; ${missingBytes} bytes written after the copy are lost`;
  return behindSince === undefined
    ? ""
    : `; what its last run wrote after ${behindSince} is lost, if it wrote anything`;
}
