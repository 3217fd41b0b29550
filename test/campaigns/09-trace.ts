import { systemCalls } from "./support/strace.ts";

/** The call that was made to fail, as the trace shows it. */
export interface Failure {
  call: string;
  /** The call moved pages from the log to the store, which SQLite does again later: no commit depended on it. */
  inCheckpoint: boolean;
  /** The daemon's own, if it has left. */
  exit: number | null;
}

export async function failureIn(trace: string): Promise<Failure | null> {
  let failure: Failure | null = null;
  let unsynced = false;
  for await (const { text, line } of systemCalls(trace)) {
    if (line === "begun") continue;
    const inLog = text.includes("/perdure.db-wal>");
    const write = text.startsWith("pwrite64(");
    if (text.includes("(INJECTED)")) {
      // A checkpoint syncs the log once more although nothing was written to it since the commit's own sync.
      failure = { call: text, inCheckpoint: !inLog || (!write && !unsynced), exit: null };
    }
    if (inLog) unsynced = write;
    const exit = /^\+\+\+ exited with ([0-9]+) \+\+\+/.exec(text)?.[1];
    if (failure && exit !== undefined) failure.exit = Number(exit);
  }
  return failure;
}
