import { asRead, type Db } from "./db.ts";
import { parseColumn } from "./failure.ts";

export interface Project {
  readonly id: number;
  /** The id that no project of another machine has either. */
  readonly uid: string;
  readonly slug: string;
  readonly slugKey: string;
  readonly identity: string;
  readonly root: string;
  readonly createdMs: number;
  /** The inode and birth of the identity's folder; null for a project that was not used since they are recorded. */
  readonly folderMark: string | null;
  /** The commits without a parent; null for a folder without git, and until they are known. */
  readonly rootCommits: readonly string[] | null;
  /** The inode and birth of the main tree; null for a project that was not used since they are recorded. */
  readonly rootMark: string | null;
  /** Digests of the places that the repository was cloned from. */
  readonly remotes: readonly string[];
}

type ProjectColumns = Omit<Project, "rootCommits" | "remotes"> & { rootCommits: string | null; remotes: string | null };

const COLUMNS = `projects.id, projects.uid, slug, slug_key AS slugKey, identity, root, projects.created_ms AS createdMs,
  folder_mark AS folderMark, root_commits AS rootCommits, root_mark AS rootMark, remotes`;

function projectFrom(columns: ProjectColumns): Project {
  const { rootCommits, remotes } = columns;
  return {
    ...columns,
    rootCommits: rootCommits === null ? null : parseColumn<string[]>("projects.root_commits", rootCommits),
    remotes: remotes === null ? [] : parseColumn<string[]>("projects.remotes", remotes),
  };
}

// Put together once: a statement is found by its text, whose hash is known only if the text is the same string each time.
const BY_IDENTITY = `SELECT ${COLUMNS} FROM projects WHERE identity = ?`;
const BY_SLUG = `SELECT ${COLUMNS} FROM projects WHERE slug_key = ?`;
const BY_ID = `SELECT ${COLUMNS} FROM projects WHERE id = ?`;

export function projectByIdentity(db: Db, identity: string): Project | null {
  return db.cachedOne(projectFrom, BY_IDENTITY, identity);
}

/** Returns the project whose main tree is this folder; the one that was made last, should there be several. */
export function projectByRoot(db: Db, root: string): Project | null {
  return db.cachedOne(projectFrom, `SELECT ${COLUMNS} FROM projects WHERE root = ? ORDER BY id DESC LIMIT 1`, root);
}

export function projectBySlug(db: Db, slugKey: string): Project | null {
  return db.cachedOne(projectFrom, BY_SLUG, slugKey);
}

export function projectById(db: Db, id: number): Project | null {
  return db.cachedOne(projectFrom, BY_ID, id);
}

/** Returns the projects whose uid has this prefix, two at most: that is enough to see that it is not unique. */
export function projectsByUidPrefix(db: Db, prefix: string): Project[] {
  return db
    .all<ProjectColumns>(`SELECT ${COLUMNS} FROM projects WHERE uid >= ?1 AND uid < ?1 || 'g' LIMIT 2`, prefix)
    .map(projectFrom);
}

export function allProjects(db: Db): Project[] {
  return db.all<ProjectColumns>(`SELECT ${COLUMNS} FROM projects ORDER BY slug_key`).map(projectFrom);
}

/** Lists the projects with a worker of this name that has a conversation or mail on its way: there is something to lose. */
export function projectsWithWorker(db: Db, nameKey: string): Project[] {
  return db
    .all<ProjectColumns>(
      `SELECT ${COLUMNS} FROM workers JOIN projects ON projects.id = workers.project_id
       WHERE name_key = ? AND retired_ms IS NULL AND ephemeral = 0
         AND (session_id IS NOT NULL OR EXISTS (SELECT 1 FROM mailboxes
              WHERE mailboxes.project_id = projects.id AND mailboxes.worker_id = workers.id AND messages > 0))
       ORDER BY slug_key`,
      nameKey,
    )
    .map(projectFrom);
}

/** Counts the projects. Every message to a new name asks, so it is cached. */
export function countProjects(db: Db): number {
  return db.cachedOne(asRead<{ count: number }>, "SELECT count(*) AS count FROM projects")?.count ?? 0;
}

export type NewProject = Pick<Project, "slug" | "slugKey" | "identity" | "root" | "createdMs"> &
  Partial<Pick<Project, "folderMark" | "rootMark">>;

export function insertProject(db: Db, row: NewProject): number {
  return db.insert(
    `INSERT INTO projects (slug, slug_key, identity, root, created_ms, folder_mark, root_mark, uid)
     VALUES (?, ?, ?, ?, ?, ?, ?, lower(hex(randomblob(16))))`,
    row.slug,
    row.slugKey,
    row.identity,
    row.root,
    row.createdMs,
    row.folderMark ?? null,
    row.rootMark ?? null,
  );
}

/** Records which folder the project is; the history of another folder is yet to be looked at. */
export function setFolderMarks(
  db: Db,
  id: number,
  { folderMark, rootMark }: Pick<Project, "folderMark" | "rootMark">,
): void {
  db.run(
    `UPDATE projects SET folder_mark = ?1, root_mark = ?2,
       root_commits = CASE WHEN folder_mark IS ?1 THEN root_commits END WHERE id = ?3`,
    folderMark,
    rootMark,
    id,
  );
}

export function setRemotes(db: Db, id: number, remotes: readonly string[]): void {
  db.run("UPDATE projects SET remotes = ? WHERE id = ?", JSON.stringify(remotes), id);
}

export function setRootCommits(db: Db, id: number, commits: readonly string[]): void {
  db.run("UPDATE projects SET root_commits = ? WHERE id = ?", JSON.stringify(commits), id);
}

export function moveProject(db: Db, id: number, identity: string, root: string): void {
  db.run("UPDATE projects SET identity = ?, root = ? WHERE id = ?", identity, root, id);
}

/**
 * Gives everything of a project to another one and deletes it. No live name and no saved session may be in both, and the messages
 * have gone before, because each carries a digest.
 */
export function mergeProject(db: Db, from: number, into: number): void {
  db.run("UPDATE workers SET project_id = ? WHERE project_id = ?", into, from);
  db.run("UPDATE OR IGNORE tombstones SET project_id = ? WHERE project_id = ?", into, from);
  db.run("DELETE FROM tombstones WHERE project_id = ?", from);
  db.run(
    `INSERT INTO mailboxes (project_id, worker_id, messages, bytes)
     SELECT ?1, worker_id, messages, bytes FROM mailboxes WHERE project_id = ?2
     ON CONFLICT (project_id, worker_id) DO UPDATE SET messages = messages + excluded.messages, bytes = bytes + excluded.bytes`,
    into,
    from,
  );
  db.run("DELETE FROM mailboxes WHERE project_id = ?", from);
  db.run("UPDATE saved SET project_id = ? WHERE project_id = ?", into, from);
  db.run("UPDATE OR REPLACE trusted SET project_id = ? WHERE project_id = ?", into, from);
  db.run("UPDATE events SET project_id = ? WHERE project_id = ?", into, from);
  db.run("DELETE FROM projects WHERE id = ?", from);
}
