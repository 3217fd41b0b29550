import { asRead, type Db } from "./db.ts";

export interface Project {
  readonly id: number;
  readonly slug: string;
  readonly slugKey: string;
  readonly identity: string;
  readonly root: string;
  readonly createdMs: number;
}

const COLUMNS = "id, slug, slug_key AS slugKey, identity, root, created_ms AS createdMs";

export function projectByIdentity(db: Db, identity: string): Project | null {
  return db.cachedOne(asRead<Project>, `SELECT ${COLUMNS} FROM projects WHERE identity = ?`, identity);
}

export function projectBySlug(db: Db, slugKey: string): Project | null {
  return db.cachedOne(asRead<Project>, `SELECT ${COLUMNS} FROM projects WHERE slug_key = ?`, slugKey);
}

export function projectById(db: Db, id: number): Project | null {
  return db.cachedOne(asRead<Project>, `SELECT ${COLUMNS} FROM projects WHERE id = ?`, id);
}

export function allProjects(db: Db): Project[] {
  return db.all(`SELECT ${COLUMNS} FROM projects ORDER BY slug_key`);
}

export function countProjects(db: Db): number {
  return db.one<{ count: number }>("SELECT count(*) AS count FROM projects")?.count ?? 0;
}

export function insertProject(db: Db, row: Omit<Project, "id">): number {
  return db.insert(
    "INSERT INTO projects (slug, slug_key, identity, root, created_ms) VALUES (?, ?, ?, ?, ?)",
    row.slug,
    row.slugKey,
    row.identity,
    row.root,
    row.createdMs,
  );
}

export function moveProject(db: Db, id: number, identity: string, root: string): void {
  db.run("UPDATE projects SET identity = ?, root = ? WHERE id = ?", identity, root, id);
}

export function deleteProject(db: Db, id: number): void {
  db.run("DELETE FROM projects WHERE id = ?", id);
}
