import { afterAll, beforeAll } from "vitest";
import type { Home } from "../support/home.ts";
import { Tmux } from "./tmux.ts";

/** A tmux server for a whole file of tests, which ends with its home. */
export function withTmux(home: Home, use: (tmux: Tmux) => void): void {
  let started: Tmux | null = null;

  beforeAll(async () => {
    started = await Tmux.start(home);
    use(started);
  });

  afterAll(async () => {
    try {
      await started?.stop();
    } finally {
      await home.clear();
    }
  });
}
