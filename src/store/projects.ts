import type { Db } from "./db.ts";

/** A row is shared by all who ask for it, and frozen. */
export type ProjectRow = Readonly<ProjectColumns>;

interface ProjectColumns {
  id: number;
  slug: string;
  slug_key: string;
  identity: string;
  root: string;
  created_ms: number;
}

export function projectByIdentity(db: Db, identity: string): ProjectRow | null {
  return db.cachedOne("SELECT * FROM projects WHERE identity = ?", identity);
}

export function projectBySlug(db: Db, slugKey: string): ProjectRow | null {
  return db.cachedOne("SELECT * FROM projects WHERE slug_key = ?", slugKey);
}

export function projectById(db: Db, id: number): ProjectRow | null {
  return db.cachedOne("SELECT * FROM projects WHERE id = ?", id);
}

export function allProjects(db: Db): ProjectRow[] {
  return db.all("SELECT * FROM projects ORDER BY slug_key");
}

export function countProjects(db: Db): number {
  return db.one<{ count: number }>("SELECT count(*) AS count FROM projects")?.count ?? 0;
}

export function insertProject(db: Db, row: Omit<ProjectRow, "id">): number {
  return db.insert(
    "INSERT INTO projects (slug, slug_key, identity, root, created_ms) VALUES (?, ?, ?, ?, ?)",
    row.slug,
    row.slug_key,
    row.identity,
    row.root,
    row.created_ms,
  );
}

export function moveProject(db: Db, id: number, identity: string, root: string): void {
  db.run("UPDATE projects SET identity = ?, root = ? WHERE id = ?", identity, root, id);
}

export function deleteProject(db: Db, id: number): void {
  db.run("DELETE FROM projects WHERE id = ?", id);
}
