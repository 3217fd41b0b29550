import { setTimeout as sleep } from "node:timers/promises";
import { envelopeHead } from "../../core/envelope.ts";
import { PASTE_POLL_MS, PASTE_SETTLE_MS, PASTE_SHOWN_MS, PIECE_UNSEEN_QUEUED_MS } from "../../limits/index.ts";
import type { PasteForm, WakeChannel } from "../../vendors/delivery.ts";
import type { Terminals } from "./services.ts";

/**
 * The channel for a program that only its terminal can wake: a bracketed paste into its pane, then Enter. Nothing is pasted unless the
 * screen shows, right before, that the program waits with nothing typed; and Enter is pressed only while the screen shows the paste and
 * nothing else. So neither answers a dialog or sends what a person has begun to type. The head with the mark is a paste of its own,
 * which programs show as it is: so a later daemon knows the text of one that died before Enter, and presses it.
 */
export function pasteChannel(terminals: Terminals, run: string, form: PasteForm): WakeChannel {
  return {
    name: "terminal, pasted",
    isPrivileged: false,
    takesMs: PIECE_UNSEEN_QUEUED_MS,
    wake: async (text, _place, mark) => {
      const before = await terminals.view(run);
      if (before === null || !before.takesPaste || !form.isEmpty(before.screen)) return false;
      const [head, rest] = framesOf(text, mark);
      if (!(await terminals.paste(run, [head, rest], mark))) return false;
      const lines = text.split("\n").length;
      const isAlone = (screen: string): boolean => form.isPasted(screen, head, lines);
      if (await isShown(terminals, run, isAlone, PASTE_SHOWN_MS)) await terminals.pressEnter(run);
      return true;
    },
    finish: async ({ mark, lines }) => {
      const view = await terminals.view(run);
      if (view === null) return "nowhere";
      if (view.pasted !== mark) return "never given";
      const head = envelopeHead(mark);
      if (!form.hasTyped(view.screen, head)) return "nowhere";
      const isAlone = (screen: string): boolean => form.isPasted(screen, head, lines);
      if (!(await isShown(terminals, run, isAlone, PASTE_SETTLE_MS))) return "in the input line";
      return (await terminals.pressEnter(run)) ? "given now" : "nowhere";
    },
  };
}

/** Splits a text into what shows its mark, short enough to be shown as it is, and the rest, with all that others wrote. */
export function framesOf(text: string, mark: string): [head: string, rest: string] {
  const head = envelopeHead(mark);
  if (!text.startsWith(head)) throw new Error("a text that does not begin with its mark is not pasted");
  return [head, text.slice(head.length)];
}

/** Waits until the screen has shown the paste, and nothing else, for a moment. */
async function isShown(
  terminals: Terminals,
  run: string,
  isPasted: (screen: string) => boolean,
  waitMs: number,
): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  let sinceMs = Infinity;
  for (;;) {
    const view = await terminals.view(run);
    const now = performance.now();
    const isThere = view?.takesPaste === true && isPasted(view.screen);
    sinceMs = isThere ? Math.min(sinceMs, now) : Infinity;
    if (now - sinceMs >= PASTE_SETTLE_MS) return true;
    // One that is there is given its moment, however long each look takes.
    if (!isThere && now >= deadline) return false;
    await sleep(PASTE_POLL_MS);
  }
}
