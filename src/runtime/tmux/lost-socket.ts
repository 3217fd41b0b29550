import { isErrno } from "../../state/files.ts";
import type { ProcessTable } from "../process/index.ts";

/** The name that tmux gives to its server's process on Linux. Elsewhere a server cannot be told from its clients, which the signal would end. */
const SERVER_PROCESS = "tmux: server";

/**
 * Has the server that was started on this socket make the socket's file again, which tmux does on SIGUSR1: somebody may have
 * removed the file, and nobody could reach the workers any more. Returns whether there is such a server.
 */
export function remakeSocket(table: ProcessTable, socket: string): boolean {
  const servers = table.commandLines().filter(({ pid, argv }) => isServerOf(table, pid, argv, socket));
  return servers.map(({ pid }) => signal(pid)).some(Boolean);
}

function isServerOf(table: ProcessTable, pid: number, argv: string[], socket: string): boolean {
  return argv[argv.indexOf("-S") + 1] === socket && table.inspect(pid)?.command === SERVER_PROCESS;
}

function signal(pid: number): boolean {
  try {
    process.kill(pid, "SIGUSR1");
    return true;
  } catch (error) {
    if (isErrno(error, "ESRCH")) return false;
    throw error;
  }
}
