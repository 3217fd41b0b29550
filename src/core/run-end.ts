/** The facts known about a run when its last process is gone. */
export interface EndEvidence {
  /** The code the wrapper left, or null if it could not leave one. */
  exit: number | null;
  displaced: boolean;
  /** Somebody stopped the run. */
  stopped: boolean;
  how: "ended" | "released" | "expired";
  /** The run is a library client: nobody waits for its process, so how it ended is not known. */
  client: boolean;
  /** The machine was rebooted since the run began. */
  rebooted: boolean;
}

/** Parses the exit code that the wrapper wrote; null for any other text. */
export function parseExitCode(text: string | null): number | null {
  const digits = text?.trim() ?? "";
  return /^[0-9]{1,3}$/.test(digits) ? Number(digits) : null;
}

/** Returns one word for `history`, which shows the exit code beside it. */
export function endReason(evidence: EndEvidence): string {
  if (evidence.displaced) return "displaced";
  if (evidence.how !== "ended") return evidence.how;
  if (evidence.stopped) return "stopped";
  if (evidence.rebooted && evidence.exit === null) return "rebooted";
  if (evidence.client) return "gone";
  if (evidence.exit === null) return "killed";
  return evidence.exit > 128 ? (SIGNAL_NAMES[evidence.exit - 128] ?? "exited") : "exited";
}

/** A shell reports death by signal n as 128 + n; a program that exits with such a code looks the same. */
const SIGNAL_NAMES: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  6: "SIGABRT",
  9: "SIGKILL",
  11: "SIGSEGV",
  13: "SIGPIPE",
  15: "SIGTERM",
};
