import type { ProcessTable } from "../runtime/process/index.ts";
import type { WrapperForm } from "../runtime/wrapper/script.ts";
import type { StatePaths } from "../state/paths.ts";
import type { Db } from "../store/db.ts";
import type { FailureKind } from "../store/failure.ts";
import type { Writer } from "../store/writer.ts";
import type { RecordedEnvironments } from "./environments.ts";

/** Services that stand below every room of the daemon: the store, the processes, the clocks, the log. */
export interface BaseServices {
  readonly paths: StatePaths;
  readonly db: Db;
  /** The environments that workers are started with. */
  readonly environments: RecordedEnvironments;
  readonly writer: Writer;
  readonly processes: ProcessTable;
  readonly host: string;
  /** The form of the wrapper's shell script that works on this machine, detected at the first launch. */
  readonly wrapper: () => WrapperForm;
  /** Wall time, for records. Waiting uses `monotonicMs`. */
  readonly now: () => number;
  readonly monotonicMs: () => number;
  readonly log: (line: string) => void;
  /** Reports a failure of the disk or the store that happened outside a change. */
  readonly onStoreFailure: (kind: FailureKind, error: unknown) => void;
  /** Calls the listener after every commit; returns a function that removes it. */
  readonly onCommit: (listener: () => void) => () => void;
}

/** Services of code that runs inside a change: it reads and writes the store, and notes the time. */
export type ChangeServices = Pick<BaseServices, "db" | "now">;
