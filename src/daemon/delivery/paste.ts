import { setTimeout as sleep } from "node:timers/promises";
import { PASTE_POLL_MS, PASTE_SETTLE_MS, PASTE_SHOWN_MS } from "../../limits/index.ts";
import type { PasteForm, WakeChannel } from "../../vendors/delivery.ts";
import type { Terminals } from "./services.ts";

/**
 * The channel for a program that only its terminal can wake: a bracketed paste into its pane, then Enter. Nothing is pasted unless the
 * screen shows, right before, that the program waits with nothing typed; and Enter is pressed only while the screen shows the paste and
 * nothing else. So neither answers a dialog or sends what a person has begun to type.
 */
export function pasteChannel(terminals: Terminals, run: string, form: PasteForm): WakeChannel {
  return {
    name: "terminal, pasted",
    isPrivileged: false,
    wake: async (text) => {
      const before = await terminals.view(run);
      if (before === null || !before.takesPaste || !form.isEmpty(before.screen)) return false;
      if (!(await terminals.paste(run, text))) return false;
      const isPasted = (screen: string): boolean => form.isPasted(screen, text.split("\n").length);
      if (!(await isShown(terminals, run, isPasted))) {
        throw new Error("the terminal does not show what was pasted, alone: Enter was not pressed");
      }
      await terminals.pressEnter(run);
      return true;
    },
  };
}

/** Waits until the screen has shown the paste, and nothing else, for a moment. */
async function isShown(terminals: Terminals, run: string, isPasted: (screen: string) => boolean): Promise<boolean> {
  const deadline = performance.now() + PASTE_SHOWN_MS;
  let sinceMs = Infinity;
  while (performance.now() < deadline) {
    const view = await terminals.view(run);
    const now = performance.now();
    sinceMs = view?.takesPaste && isPasted(view.screen) ? Math.min(sinceMs, now) : Infinity;
    if (now - sinceMs >= PASTE_SETTLE_MS) return true;
    await sleep(PASTE_POLL_MS);
  }
  return false;
}
