import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { TMUX_ANSWER_MS } from "../../limits/index.ts";
import { unansweredError } from "./control-client.ts";
import { serverOptions } from "./options.ts";
import { CONTROL_SESSION } from "./views.ts";

const exec = promisify(execFile);

const NEW_CONTROL_SESSION = ["new-session", "-d", "-s", CONTROL_SESSION, "-c", "/", "--", "/bin/sh", "-c", ":"];

interface ServerPlace {
  /** The absolute path of the tmux program. */
  file: string;
  socket: string;
  environment: Record<string, string>;
}

/**
 * Starts a tmux server of our own: on its own socket, and without the user's configuration. The server makes a session and a
 * process group of its own, so what ends the daemon does not end the server.
 */
export async function startServer(place: ServerPlace, mark: string[]): Promise<void> {
  const commands = [["start-server"], mark, ...serverOptions(place.environment), NEW_CONTROL_SESSION];
  await runTmux(place, ["-f", "/dev/null"], commands);
}

/** Makes the control session again on a server that runs. */
export async function remakeControlSession(place: ServerPlace): Promise<void> {
  await runTmux(place, ["-N"], [NEW_CONTROL_SESSION]);
}

/** Asks the server to end, with every process in it; it answers before it has gone. */
export async function killServer(place: ServerPlace): Promise<void> {
  await runTmux(place, ["-N"], [["kill-server"]]);
}

/** Has the server carry out the commands of a file. Over a control client, each of them would look like an answer. */
export async function readCommands(place: ServerPlace, file: string): Promise<void> {
  await runTmux(place, ["-N"], [["source-file", file]]);
}

/** Runs tmux as a process, for commands that a control client cannot run. None of our words ends in `;`. */
async function runTmux(
  { file, socket, environment }: ServerPlace,
  flags: string[],
  commands: string[][],
): Promise<void> {
  const words = commands.flatMap((command, index) => (index === 0 ? command : [";", ...command]));
  try {
    await exec(file, ["-u", "-S", socket, ...flags, ...words], { env: environment, cwd: "/", timeout: TMUX_ANSWER_MS });
  } catch (error) {
    const { stderr = "", stdout = "" } = error instanceof Error ? (error as { stderr?: string; stdout?: string }) : {};
    // A mistake in a file of commands is printed.
    throw unansweredError(stderr.trim() || stdout.trim() || String(error), error);
  }
}
