import type { CallContext } from "./context.ts";

/** Yields once at the start and then after commits, until the connection closes. */
export async function* commits({ services, closed }: Pick<CallContext, "services" | "closed">): AsyncGenerator<void> {
  let wake: () => void = () => undefined;
  let pending = true;
  const signal = (): void => {
    pending = true;
    wake();
  };
  const stop = services.onCommit(signal);
  closed.addEventListener("abort", signal);
  try {
    while (!closed.aborted) {
      if (!pending) await new Promise<void>((resolve) => (wake = resolve));
      pending = false;
      if (!closed.aborted) yield;
    }
  } finally {
    stop();
    closed.removeEventListener("abort", signal);
  }
}
