import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import { isErrno } from "../../state/files.ts";
import type { ControlClient } from "./control-client.ts";
import type { Pane } from "./pane-list.ts";

/** A terminal that is attached to our server, and what it shows. */
export interface AttachedClient {
  /** The path of its terminal. */
  tty: string;
  window: string;
  /** The pane that takes its keys; while it is zoomed, the only one that is seen. */
  pane: string;
  isZoomed: boolean;
  /** False once the terminal has told that another window has the focus; a terminal that never tells counts as focused. */
  isFocused: boolean;
  /** The wall time of its last key, or of its attaching. */
  lastKeyMs: number;
}

const ROW =
  "#{client_control_mode}|#{client_activity}|#{client_flags}|#{window_id}|#{pane_id}|#{window_zoomed_flag}|#{client_tty}";

/** Lists the attached terminals; programs that read the server by control mode, ours among them, are none. */
export async function listClients(client: ControlClient): Promise<AttachedClient[]> {
  const [rows = []] = await client.send(["list-clients", "-F", ROW]);
  return rows.flatMap((row) => {
    const [control, activity, flags = "", window = "", pane = "", zoomed, ...tty] = row.split("|");
    if (control === "1" || tty.length === 0) return [];
    return [
      {
        tty: tty.join("|"),
        window,
        pane,
        isZoomed: zoomed === "1",
        isFocused: flags.split(",").includes("focused"),
        lastKeyMs: Number(activity) * 1_000,
      },
    ];
  });
}

/** Whether the terminal shows the pane to somebody who has pressed a key since that time. */
export function showsPane(client: AttachedClient, { id, window }: Pane, keySinceMs: number): boolean {
  const isSeen = client.window === window && (!client.isZoomed || client.pane === id);
  return isSeen && client.isFocused && client.lastKeyMs >= keySinceMs;
}

/** Rings the bell of a terminal; false if it is gone, or takes nothing at the moment. */
export function ringBell({ tty }: AttachedClient): boolean {
  try {
    const fd = openSync(tty, constants.O_WRONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
    try {
      // A path of another container may lead to something else here.
      if (!fstatSync(fd).isCharacterDevice()) return false;
      return writeSync(fd, "\u0007") === 1;
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENXIO", "EIO", "EAGAIN", "EACCES", "EPERM", "ENOTDIR", "ENODEV")) return false;
    throw error;
  }
}
