import { setTimeout as sleep } from "node:timers/promises";
import type { Terminal } from "./harness/terminal.ts";
import type { Asking } from "./traits.ts";

const ANSWERED_MS = 1_000;

/** Says yes to a question. A key that comes with the question is not taken for an answer: it is pressed again while the question is there. */
export async function answerQuestion(terminal: Terminal, { question, yes }: Asking): Promise<void> {
  for (let tries = 10; question.test(await terminal.screen()); tries--) {
    if (tries === 0) throw new Error(`the question stays\n${await terminal.screen()}`);
    await terminal.press(yes);
    await sleep(ANSWERED_MS);
  }
}
