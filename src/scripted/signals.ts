import { printError } from "./print.ts";

/** The signals that end the agent, each with the exit code a shell would show. */
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
type Signal = keyof typeof EXIT_CODES;

/** Makes those signals run `leave` before the process exits. */
export function leaveOnSignals(leave: () => Promise<void>): void {
  for (const [signal, code] of Object.entries(EXIT_CODES)) {
    process.once(signal, () => {
      leave().then(
        () => process.exit(code),
        (error: unknown) => {
          printError(String(error));
          process.exit(code);
        },
      );
    });
  }
}

export function ignoreSignals(...signals: Signal[]): void {
  for (const signal of signals) {
    process.removeAllListeners(signal);
    process.on(signal, () => undefined);
  }
}
