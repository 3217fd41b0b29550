import { writeSync } from "node:fs";
import type { PerdureError } from "../../../protocol/errors.ts";
import { isErrno } from "../../../state/files.ts";

/** Tells a program that has started this one, on a pipe that it has opened for that, why it did not become what was asked for. */
export function tellStarter(fd: number, error: PerdureError): void {
  try {
    writeSync(fd, JSON.stringify(error));
  } catch (thrown) {
    // Nobody listens any more; what is said on stderr is the same.
    if (!isErrno(thrown, "EPIPE", "EBADF")) throw thrown;
  }
}
