import { renameSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { eventually } from "./check.ts";
import type { Home } from "./home.ts";
import type { InstalledPersona } from "./persona.ts";

/** Begins a conversation of a worker, says something in it and ends it; returns the conversation's id. */
export async function withSecret(
  persona: InstalledPersona,
  name = "coder",
  cwd = persona.home.project,
): Promise<string> {
  const talk = await persona.begin(name, [], { cwd });
  await talk.say("the secret");
  const { session } = await persona.home.json<{ session: { id: string } }>(["show", name], { cwd });
  await talk.end();
  return session.id;
}

/** Makes the home's project a repository with one commit. */
export function makeRepository(home: Home): void {
  home.git(["init", "-q"]);
  home.git(["commit", "-q", "--allow-empty", "-m", "first"]);
}

/** Moves the home's project; returns where it is now. */
export function moveProjectOf(home: Home, to = "moved"): string {
  const moved = join(home.dir, to);
  renameSync(home.project, moved);
  return moved;
}

/** Waits until the daemon has recorded, in the background, the commits that the history of the project began with. */
export async function untilRootsAreKnown(home: Home): Promise<void> {
  await eventually("the first commits to be recorded", () => {
    const db = new DatabaseSync(join(home.state, "perdure.db"), { readOnly: true });
    try {
      return db.prepare("SELECT 1 FROM projects WHERE root_commits IS NOT NULL").get() !== undefined;
    } finally {
      db.close();
    }
  });
}

/** Makes the store what a version before this one left: nothing is known of any project's folder. */
export async function forgetFolders(home: Home): Promise<void> {
  await home.perdure(["daemon", "stop"]);
  const db = new DatabaseSync(join(home.state, "perdure.db"));
  db.exec("UPDATE projects SET folder_mark = NULL, root_commits = NULL, root_mark = NULL, remotes = NULL");
  db.close();
}
