import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PIECE_POLL_MS, WAKE_SOCKET_MS } from "../../limits/index.ts";
import { isErrno } from "../../state/files.ts";
import type { WakeChannel, WakePlace } from "../delivery.ts";
import { WAKE_FILE } from "./hook-script.ts";

/** Makes the channel by which code of ours inside the program, or the built-in agent, takes a text from a file in the run's folder. */
export function fileWake(name: string): WakeChannel {
  return {
    name,
    isPrivileged: false,
    wake,
    // One that a daemon left there which then died must not be taken by a program that is late, when the mail has come in another way.
    withdraw: async ({ runDir }) => rm(join(runDir, WAKE_FILE), { force: true }),
  };
}

/** Leaves the text there. Takes it back, and returns false, if nobody has come for it. */
async function wake(text: string, { runDir, session }: WakePlace): Promise<boolean> {
  const draft = join(runDir, `.${WAKE_FILE}.draft`);
  const file = join(runDir, WAKE_FILE);
  writeFileSync(draft, JSON.stringify({ session, text }), { mode: 0o600 });
  renameSync(draft, file);
  for (let waitedMs = 0; waitedMs < WAKE_SOCKET_MS; waitedMs += PIECE_POLL_MS) {
    if (!existsSync(file)) return true;
    await sleep(PIECE_POLL_MS);
  }
  return !takeBack(file, draft);
}

/** False if the program was faster. */
function takeBack(file: string, to: string): boolean {
  try {
    renameSync(file, to);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return false;
    throw error;
  }
  rmSync(to, { force: true });
  return true;
}
