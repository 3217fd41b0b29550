import { writeSync } from "node:fs";
import { isErrno } from "../state/files.ts";

export const print = (text: string): void => writeAll(1, `${text}\n`);
export const printError = (text: string): void => writeAll(2, `${text}\n`);
export const printJson = (value: object): void => writeAll(1, `${JSON.stringify(value)}\n`);

/** Writes synchronously, so that nothing is lost at an exit; and loading Node's stdout would cost 2 ms of every start. */
export function writeAll(fd: number, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if (isErrno(error, "EPIPE", "EIO")) return; // nobody looks any more; the agent works on
      if (!isErrno(error, "EAGAIN")) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
