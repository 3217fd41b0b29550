import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RUN_FILE_BYTES_MAX } from "../limits/index.ts";
import type { LaunchOrder } from "../protocol/records/launch.ts";
import { readIfReadable } from "../state/bounded-read.ts";
import { isErrno } from "../state/files.ts";
import { LAUNCH } from "../vendors/delivery.ts";
import {
  adapterOf,
  DEPOSITED_FILE,
  MAIL_FAILED_FILE,
  MAIL_SESSION_FILE,
  MAIL_SHOWN_FILE,
  TAKEN_PREFIX,
  WAITING_MAIL,
} from "../vendors/index.ts";
import { programAsker } from "./ask-program.ts";

/**
 * Puts the mail that waits for this launch into the conversation, for a program that has no hooks. The start goes on whatever comes of it:
 * mail that did not get there is returned by the daemon, with the reason that is left here.
 */
export async function depositMail(
  runDir: string,
  { session, programAt }: Pick<LaunchOrder, "session" | "programAt">,
  { command, cwd }: { command: readonly string[]; cwd: string },
  environment: Record<string, string>,
): Promise<void> {
  const adapter = adapterOf(session?.vendor ?? "");
  const facet = adapter?.delivery;
  if (session === null || !facet?.deposit || programAt === undefined || !hasMailFor(runDir, session.id)) return;
  const taken = join(runDir, `${TAKEN_PREFIX}${LAUNCH}.${process.pid}`);
  if (!take(runDir, taken)) return;
  try {
    const program = command.slice(0, programAt + 1);
    const ask = programAsker(adapter, { command: program, cwd, environment, variables: {} });
    const text = readIfReadable(join(taken, LAUNCH), RUN_FILE_BYTES_MAX);
    const bytes = await facet.deposit(text, { command: program, cwd, environment, session: session.id, ask });
    writeFileSync(join(runDir, DEPOSITED_FILE), String(bytes), { mode: 0o600 });
    note(taken, MAIL_SHOWN_FILE, "");
  } catch (error) {
    note(taken, MAIL_FAILED_FILE, String(error));
  }
}

/** Leaves a note for the daemon; there is no folder any more where the daemon has given up on the mail. */
function note(taken: string, name: string, text: string): void {
  try {
    writeFileSync(join(taken, name), text, { mode: 0o600 });
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error;
  }
}

function hasMailFor(runDir: string, session: string): boolean {
  const mail = join(runDir, WAITING_MAIL);
  return (
    existsSync(join(mail, LAUNCH)) && readIfReadable(join(mail, MAIL_SESSION_FILE), RUN_FILE_BYTES_MAX) === session
  );
}

/** False if the daemon has taken it back. */
function take(runDir: string, to: string): boolean {
  try {
    renameSync(join(runDir, WAITING_MAIL), to);
    return true;
  } catch (error) {
    if (isErrno(error, "ENOENT")) return false;
    throw error;
  }
}
