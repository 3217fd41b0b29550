import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { finish } from "../support/home.ts";
import { headlessCommand, interactiveCommand } from "./harness/commands.ts";
import { killMarked } from "./harness/marked-processes.ts";
import type { LiveSetup } from "./setup.ts";

const MARK = "PERDURE_BED_FOREIGN_OPENER";

export interface ForeignOpener {
  /** False when the program itself refuses to open a conversation that is already open. */
  admitted: boolean;
  leave(): Promise<void>;
}

/** Opens a conversation with the bare program: idle in a terminal, else in the middle of a turn. */
export async function openForeignProgram(
  setup: LiveSetup,
  session: string,
  text: string,
  said: string,
): Promise<ForeignOpener> {
  return setup.mode === "tui" ? inTerminal(setup, session, said) : headless(setup, session, text);
}

async function inTerminal(setup: LiveSetup, session: string, said: string): Promise<ForeignOpener> {
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

async function headless(setup: LiveSetup, session: string, text: string): Promise<ForeignOpener> {
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
    throw new Error(`the foreign program ended: ${stdout}${stderr}`);
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
