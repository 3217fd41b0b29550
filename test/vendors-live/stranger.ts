import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { finish } from "../support/home.ts";
import { headlessCommand, interactiveCommand } from "./harness/commands.ts";
import { killMarked } from "./harness/marked-processes.ts";
import type { LiveSetup } from "./setup.ts";

const MARK = "PERDURE_BED_STRANGER";

export interface Stranger {
  /** False when the program itself would not open a conversation that is open. */
  admitted: boolean;
  leave(): Promise<void>;
}

/** The bare program, on a conversation: in a terminal, idle; without one in the middle of a turn. */
export async function openStranger(setup: LiveSetup, session: string, text: string, said: string): Promise<Stranger> {
  return setup.mode === "tui" ? inTerminal(setup, session, said) : headless(setup, session, text);
}

async function inTerminal(setup: LiveSetup, session: string, said: string): Promise<Stranger> {
  const { vendor, traits } = setup;
  const terminal = await setup.terminal(interactiveCommand(vendor, vendor.session.resume(session)));
  // Before the conversation is on the screen, nothing else there means anything.
  let shown = await terminal.shows(said);
  const refuses = traits.refusesSecond?.test(shown) ?? false;
  const { question, keys } = traits.secondAsks ?? { question: null, keys: [] };
  if (question) {
    shown = await terminal.until(
      "open, or a question",
      (screen) => vendor.screen.empty.test(screen) || question.test(screen),
    );
    if (question.test(shown)) await terminal.press(keys);
  }
  if (!refuses) await terminal.ready();
  return { admitted: !refuses, leave: () => terminal.kill() };
}

async function headless(setup: LiveSetup, session: string, text: string): Promise<Stranger> {
  const { vendor, traits, home, model } = setup;
  const mark = randomUUID();
  const held = `${text} [[hold]]`;
  const [program = "", ...args] = headlessCommand(vendor, vendor.session.resume(session), held);
  const child = spawn(program, args, {
    cwd: home.project,
    env: { ...home.env, [MARK]: mark },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const finished = finish(child);
  const ended = finished.then(({ stdout, stderr }) => {
    if (traits.refusesSecond?.test(stdout + stderr)) return false;
    throw new Error(`the stranger ended: ${stdout}${stderr}`);
  });
  const asks = model.until(({ turns }) => turns.at(-1) === held).then(() => true);
  const admitted = await Promise.race([asks, ended]);
  for (const other of [asks, ended]) other.catch(() => undefined);
  return {
    admitted,
    leave: async () => {
      await killMarked(MARK, mark);
      await finished;
    },
  };
}
