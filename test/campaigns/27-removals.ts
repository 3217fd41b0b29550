import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "../support/home.ts";
import { isFileOrFolder } from "../support/tree.ts";

/** One thing that a cleaner, a sync tool or a person does to a state folder under its living daemon. */
export interface Removal {
  what: string;
  /** The daemon's store is no longer where it was: nothing may be acknowledged by it after this. */
  storeGone: boolean;
  /** The folder in its place was copied a moment before, so messages on their way meanwhile are not expected in it. */
  leavesCopy?: true;
  act(home: Home): void;
}

const STORE = ["perdure.db", "perdure.db-wal", "perdure.db-shm"];

/** Each rule of its own comes first: the store's, its log's, the socket's, the lock's; then what touches several of them. */
export const REMOVALS: readonly Removal[] = [
  { what: "store removed, its log kept", storeGone: true, act: (home) => remove(home, "perdure.db") },
  { what: "log of the store removed", storeGone: true, act: (home) => remove(home, "perdure.db-wal") },
  { what: "socket removed", storeGone: false, act: (home) => remove(home, "perdure.sock") },
  {
    what: "socket replaced",
    storeGone: false,
    act(home) {
      remove(home, "perdure.sock");
      writeFileSync(join(home.state, "perdure.sock"), "not a socket");
    },
  },
  { what: "lock removed", storeGone: false, act: (home) => remove(home, "daemon.lock") },
  {
    what: "lock, socket and daemon.json removed",
    storeGone: false,
    act: (home) => remove(home, "daemon.lock", "perdure.sock", "daemon.json"),
  },
  {
    what: "lock replaced, socket removed",
    storeGone: false,
    act(home) {
      remove(home, "daemon.lock", "perdure.sock");
      writeFileSync(join(home.state, "daemon.lock"), "");
    },
  },
  { what: "run folders removed", storeGone: false, act: (home) => remove(home, "runs") },
  {
    what: "everything but store and lock removed",
    storeGone: false,
    act: (home) => remove(home, "runs", "logs", "projects.json", "high-water", "daemon.json", "perdure.sock"),
  },
  { what: "store removed", storeGone: true, act: (home) => remove(home, ...STORE) },
  {
    what: "store moved",
    storeGone: true,
    act: (home) => renameSync(join(home.state, "perdure.db"), join(home.state, "old.db")),
  },
  {
    what: "everything in the folder removed",
    storeGone: true,
    act: (home) => remove(home, ...STORE, "runs", "projects.json", "high-water", "daemon.lock", "perdure.sock"),
  },
  // The daemon may put a file into the folder while that is being removed: then it is gone over once more.
  { what: "folder removed", storeGone: true, act: (home) => rmSync(home.state, { recursive: true, maxRetries: 9 }) },
  { what: "folder moved", storeGone: true, act: (home) => moveAway(home) },
  {
    what: "folder replaced by an empty one",
    storeGone: true,
    act(home) {
      moveAway(home);
      mkdirSync(home.state, { mode: 0o700 });
    },
  },
  {
    what: "folder replaced by a copy of it",
    storeGone: true,
    leavesCopy: true,
    act(home) {
      cpSync(home.state, `${home.state}.copy`, { recursive: true, filter: isFileOrFolder });
      moveAway(home);
      renameSync(`${home.state}.copy`, home.state);
    },
  },
];

function remove(home: Home, ...names: string[]): void {
  for (const name of names) rmSync(join(home.state, name), { recursive: true, force: true });
}

function moveAway(home: Home): void {
  const away = `${home.state}.away`;
  rmSync(away, { recursive: true, force: true });
  renameSync(home.state, away);
}
