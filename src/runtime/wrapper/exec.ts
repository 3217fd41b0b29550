import { wrapperCommand, type Inherited, type WrapperForm, type WrapperOptions } from "./script.ts";

export interface WrapperExec {
  form: WrapperForm;
  runDir: string;
  command: string[];
  cwd: string;
  environment: Record<string, string>;
  inherited: Inherited;
  options?: WrapperOptions;
}

/**
 * Turns this process into the wrapper: same pid, same start time, so the lease's holder is known before the program
 * starts. Never returns. Nothing here, or before, may touch process.stdin or process.stdout: Node would leave
 * the terminal non-blocking for the program.
 */
export function execWrapper(launch: WrapperExec): never {
  const { file, args } = wrapperCommand(launch.form, launch.runDir, launch.command, launch.inherited, launch.options);
  process.chdir(launch.cwd);
  // Node ignores these two, and ignored signals survive exec; with a handler, exec puts the default back.
  for (const signal of ["PIPE", "XFSZ"]) {
    if (!launch.inherited.ignored.includes(signal)) process.on(`SIG${signal}`, () => undefined);
  }
  if (process.execve === undefined) throw new Error("this Node has no process.execve");
  process.execve(file, args, launch.environment);
  throw new Error("execve returned");
}

/** The numbers of Linux; no other system has a mask to read. */
const SIGNAL_BITS: Readonly<Record<string, number>> = {
  HUP: 1,
  INT: 2,
  QUIT: 3,
  USR1: 10,
  USR2: 12,
  PIPE: 13,
  ALRM: 14,
  TERM: 15,
  TSTP: 20,
  TTIN: 21,
  TTOU: 22,
  URG: 23,
  XCPU: 24,
  XFSZ: 25,
  VTALRM: 26,
  PROF: 27,
  WINCH: 28,
  IO: 29,
  PWR: 30,
};

/** Reads what the front script recorded, in two variables, before Node began. */
export function inheritedFrom(env: Readonly<Record<string, string | undefined>>): Inherited {
  const openFiles = /^[0-9]+$/.test(env.PERDURE_NOFILE ?? "") ? Number(env.PERDURE_NOFILE) : null;
  return { ignored: ignoredSignals(env.PERDURE_SIGIGN), openFiles };
}

/** Reads the ignored signals from the hexadecimal mask in /proc/PID/status. */
export function ignoredSignals(mask: string | undefined): string[] {
  if (mask === undefined || !/^[0-9a-f]{1,16}$/i.test(mask)) return [];
  const bits = BigInt(`0x${mask}`);
  return Object.keys(SIGNAL_BITS).filter((name) => (bits >> BigInt((SIGNAL_BITS[name] ?? 1) - 1)) & 1n);
}
