import { writeSync } from "node:fs";
import { isErrno } from "../state/files.ts";

export const say = (text: string): void => write(1, `${text}\n`);
export const sayAside = (text: string): void => write(2, `${text}\n`);
export const sayJson = (value: object): void => write(1, `${JSON.stringify(value)}\n`);

/** Synchronous, so that nothing is lost at an exit; and loading Node's stdout would cost 2 ms of every start. */
export function write(fd: number, text: string): void {
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
