import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { Environment } from "../util/environment.ts";
import { SOCKET_PATH_BYTES_MAX } from "../limits/index.ts";
import { PerdureError } from "../protocol/errors.ts";
import { sha256 } from "../util/sha256.ts";
import { isErrno, readIfThere } from "./files.ts";

/** The folder of the bundles, set when bundling; code that runs from source uses the built bundles, too. */
declare const PERDURE_DIST: string | undefined;
export const DIST = typeof PERDURE_DIST === "string" ? PERDURE_DIST : join(import.meta.dirname, "..", "..", "dist");

/** The name of the file in the state folder that says which process is the daemon. */
export const DAEMON_FILE = "daemon.json";

/** Files in the folder of a run that tell what became of its worker since the start: the address after a rename, and who took over. */
export const ADDRESS_FILE = "address";
export const DISPLACED_FILE = "displaced";

/** Returns `$PERDURE_HOME`, or `$XDG_STATE_HOME/perdure`. A runtime dir is gone at logout, a temporary one is unsafe. */
function stateDir(env: Environment): string {
  if (env.PERDURE_HOME) return absolute("PERDURE_HOME", env.PERDURE_HOME);
  if (env.XDG_STATE_HOME) return join(absolute("XDG_STATE_HOME", env.XDG_STATE_HOME), "perdure");
  return join(homeDir(env), ".local", "state", "perdure");
}

export function userConfigFile(env: Environment): string {
  const base = env.XDG_CONFIG_HOME ? absolute("XDG_CONFIG_HOME", env.XDG_CONFIG_HOME) : join(homeDir(env), ".config");
  return join(base, "perdure", "config.toml");
}

export interface StatePaths {
  dir: string;
  database: string;
  /** Records how far the store has come. */
  highWater: string;
  /** The kernel holds a lock on this file while the daemon is alive. */
  lock: string;
  /** An I/O error leaves this file behind, and the next daemon checks the whole store. */
  ioErrorMark: string;
  /** Keeps what agents have shown while the disk was full; its room is taken beforehand. */
  unwrittenSigns: string;
  /** Tells people and `daemon status` which daemon serves, since when, on which socket. */
  daemonFile: string;
  /** Maps folders to projects, for readers that must not wait for a daemon. */
  projectsFile: string;
  runs: string;
  /** The fifos that are ready for new runs. */
  fifos: string;
  /** The copies of conversations. */
  custody: string;
  /** The environments that workers are started with: one file for each, apart from the store and its backups. */
  environments: string;
  /** The copies of files that were sent along with mail. */
  attachments: string;
  log: string;
  socket: string;
  /** The socket of our own tmux server. */
  tmux: string;
}

/** Returns the state folder that a process with this environment works for. */
export function stateFolder(env: Environment): string {
  return canonicalDir(stateDir(env));
}

export function statePaths(env: Environment): StatePaths {
  const dir = stateFolder(env);
  const socket = socketPath(dir, env);
  return {
    dir,
    database: join(dir, "perdure.db"),
    highWater: join(dir, "high-water"),
    lock: join(dir, "daemon.lock"),
    ioErrorMark: join(dir, "io-error"),
    unwrittenSigns: join(dir, "unwritten-signs"),
    daemonFile: join(dir, DAEMON_FILE),
    projectsFile: join(dir, "projects.json"),
    runs: join(dir, "runs"),
    fifos: join(dir, "fifos"),
    custody: join(dir, "custody"),
    environments: join(dir, "environments"),
    attachments: join(dir, "attachments"),
    log: join(dir, "logs", "daemon.log"),
    socket,
    // Beside our own socket: the kernel limits the length of this path, too.
    tmux: join(dirname(socket), "tmux"),
  };
}

/**
 * Resolves the links above the folder: a run's processes are recognised by the socket's path, so a linked home must not
 * make two of it. The folder itself stays unresolved, because the safety check refuses a link.
 */
function canonicalDir(dir: string): string {
  const parent = dirname(dir);
  if (parent === dir) return dir;
  try {
    return join(realpathSync.native(parent), basename(dir));
  } catch (error) {
    if (!isErrno(error, "ENOENT", "ENOTDIR", "EACCES")) throw error;
    return join(canonicalDir(parent), basename(dir));
  }
}

/** Resolves every link as far as the path exists, so that two spellings of one folder are one. */
export function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (!isErrno(error, "ENOENT", "ENOTDIR", "EACCES", "ELOOP", "ENAMETOOLONG") || dirname(path) === path) throw error;
    return join(realPath(dirname(path)), basename(path));
  }
}

/** Returns the socket's path. The kernel limits its length, so a deep state dir has its socket in the home folder. */
function socketPath(dir: string, env: Environment): string {
  const inside = join(dir, "perdure.sock");
  if (Buffer.byteLength(inside) <= SOCKET_PATH_BYTES_MAX) return inside;
  const recorded = /"socket":"([^"]+)"/.exec(readIfThere(join(dir, DAEMON_FILE)) ?? "")?.[1];
  if (recorded !== undefined) return recorded;
  const hash = sha256(dir).slice(0, 12);
  const short = join(homeDir(env), ".perdure", hash, "s");
  if (Buffer.byteLength(short) <= SOCKET_PATH_BYTES_MAX) return short;
  throw new PerdureError("unavailable", `The state folder's path is too long for a socket: ${dir}`, {
    hint: "set PERDURE_HOME to a shorter absolute path",
  });
}

/**
 * Returns HOME, else the home of the user's passwd entry; `node:os` costs 1 ms, so it is loaded only then. Its `homedir()` would
 * return the HOME of this process, and the environment may be another one's.
 */
export function homeDir(env: Environment): string {
  if (env.HOME) return absolute("HOME", env.HOME);
  try {
    return process.getBuiltinModule("node:os").userInfo().homedir;
  } catch (error) {
    throw new PerdureError("usage", "HOME is not set, and this user has no entry in passwd that says where home is.", {
      hint: "export HOME=/an/absolute/path",
      cause: error,
    });
  }
}

function absolute(variable: string, value: string): string {
  if (isAbsolute(value)) return value;
  throw new PerdureError("usage", `${variable} is ${JSON.stringify(value)}, which is not an absolute path.`, {
    hint: `export ${variable}=/an/absolute/path, or unset it`,
  });
}
