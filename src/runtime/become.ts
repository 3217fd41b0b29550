import { wrapperCommand, type WrapperForm } from "./wrapper.ts";

export interface Launch {
  form: WrapperForm;
  runDir: string;
  command: string[];
  cwd: string;
  environment: Record<string, string>;
  /** Signals the caller had ignored before Node reset them. */
  ignored: string[];
}

/**
 * Turns this process into the wrapper: same pid, same start time, so the lease's holder is known before the program
 * starts. Never returns. Nothing here, or before, may touch process.stdin or process.stdout: Node would leave
 * the terminal non-blocking for the program.
 */
export function become(launch: Launch): never {
  const { file, args } = wrapperCommand(launch.form, launch.runDir, launch.ignored, launch.command);
  process.chdir(launch.cwd);
  // Node ignores these two, and ignored signals survive exec; with a handler, exec puts the default back.
  for (const signal of ["PIPE", "XFSZ"]) {
    if (!launch.ignored.includes(signal)) process.on(`SIG${signal}`, () => undefined);
  }
  if (process.execve === undefined) throw new Error("this Node has no process.execve");
  process.execve(file, args, launch.environment);
  throw new Error("execve returned");
}

const SIGNAL_BITS: Readonly<Record<string, number>> = { HUP: 1, INT: 2, QUIT: 3, PIPE: 13, TERM: 15, XFSZ: 25 };

/** From the hexadecimal mask in /proc/PID/status, as the front script saw it before Node began. */
export function ignoredSignals(mask: string | undefined): string[] {
  if (mask === undefined || !/^[0-9a-f]{1,16}$/i.test(mask)) return [];
  const bits = BigInt(`0x${mask}`);
  return Object.keys(SIGNAL_BITS).filter((name) => (bits >> BigInt((SIGNAL_BITS[name] ?? 1) - 1)) & 1n);
}
