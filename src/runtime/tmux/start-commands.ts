import { statSync } from "node:fs";
import { PANE_COMMAND_BYTES_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { literal } from "./quote.ts";

export interface StartRequest {
  /** The project's slug. */
  project: string;
  /** What people call the worker. */
  worker: string;
  /** What we call it: stays when it is renamed. */
  workerId: string;
  /** Workers of one group share a window. */
  group: string | null;
  run: string;
  /** A few marks that the process carries from its first instant; its real environment is the wrapper's business. */
  env: Readonly<Record<string, string>>;
  cwd: string;
  argv: readonly string[];
}

/** What tmux would take for something else, or would quietly do otherwise, is refused before it is asked. */
export function checkStart({ argv, cwd, env, worker }: StartRequest): void {
  const bytes = [...argv, ...Object.entries(env).flat()].reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0);
  if (argv.length === 0 || argv[0] === "")
    throw new PerdureError("usage", `There is no program to start for ${worker}.`);
  if (bytes > PANE_COMMAND_BYTES_MAX) {
    throw new PerdureError(
      "usage",
      `The command of ${worker} has ${bytes} bytes; at most ${PANE_COMMAND_BYTES_MAX} are allowed.`,
    );
  }
  // tmux would start it in the home folder instead.
  if (!isFolder(cwd)) {
    throw new PerdureError("not-found", `${cwd} is not a folder, so ${worker} cannot be started in it.`, {
      hint: `ls -ld ${cwd}`,
    });
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // whatever the reason: nothing can be started in it
  }
}

/** A window of its own, in a session that this creates. It is marked in the same breath, so no crash of ours leaves it unmarked. */
export function newSessionCommands(request: StartRequest): string[][] {
  const session = sessionName(request.project);
  return [
    ["new-session", "-d", "-s", session, ...windowArguments(request)],
    ["set-option", "-t", `=${session}:`, "--", "@perdure_project", request.project],
    // A new session keeps what its first process was given: windows that a person opens must not carry our marks.
    ...Object.keys(request.env).map((name) => ["set-environment", "-t", `=${session}`, "-u", name]),
    ...markCommands(request, `=${session}:`),
  ];
}

/** At a place of its own: refused if that is taken, and so surely the one that is marked. */
export function newWindowCommands(request: StartRequest, index: number): string[][] {
  const target = `=${sessionName(request.project)}:${index}`;
  return [["new-window", "-d", "-t", target, ...windowArguments(request)], ...markCommands(request, target)];
}

/** A pane of a group carries its name; its window has the group's. */
export function nameGroupPane(worker: string, pane: string): string[][] {
  return [["set-option", "-p", "-t", pane, "--", "@perdure_name", worker]];
}

/** The window of a group is found by the others of it. */
export function makeGroupWindow(group: string, pane: string): string[][] {
  return [
    ["set-option", "-w", "-t", pane, "--", "@perdure_group", group],
    ["set-option", "-w", "-t", pane, "pane-border-status", "top"],
    ["rename-window", "-t", pane, "--", literal(group)],
  ];
}

export function joinGroupWindow(pane: string, groupPane: string): string[][] {
  return [
    ["join-pane", "-d", "-s", pane, "-t", groupPane],
    ["select-layout", "-t", groupPane, "tiled"],
  ];
}

/** In a pane whose process has ended: the same id, the same place. Its last screen is cleared. */
export function respawnCommands(request: StartRequest, pane: string): string[][] {
  return [
    ["respawn-pane", "-t", pane, ...processArguments(request)],
    ...markCommands(request, pane),
    ["display-message", "-p", "-t", pane, PANE_AND_PID],
  ];
}

/** A project's session: no `.` or `:`, which are tmux's own, and never the same for two slugs. */
export function sessionName(project: string): string {
  const safe = project.replace(/^_|[^A-Za-z0-9._-]/gu, (char) => `~${char.codePointAt(0)?.toString(16)}~`);
  return safe.replaceAll(".", "+") || "~";
}

const PANE_AND_PID = "#{pane_id} #{pane_pid}";

function windowArguments(request: StartRequest): string[] {
  return ["-n", literal(request.worker), "-P", "-F", PANE_AND_PID, ...processArguments(request)];
}

function processArguments({ cwd, env, argv }: StartRequest): string[] {
  const variables = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  return ["-c", literal(cwd), ...variables, "--", ...withoutShell(argv)];
}

/** tmux hands a single word to a shell; several are the program and its arguments. */
function withoutShell(argv: readonly string[]): readonly string[] {
  return argv.length === 1 ? ["/bin/sh", "-c", 'exec "$0"', ...argv] : argv;
}

function markCommands({ workerId, run }: StartRequest, target: string): string[][] {
  return [
    ["set-option", "-p", "-t", target, "--", "@perdure_worker", workerId],
    ["set-option", "-p", "-t", target, "--", "@perdure_run", run],
  ];
}
