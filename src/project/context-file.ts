import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { PerdureError } from "../protocol/errors.ts";
import { fileNameOf } from "../protocol/foreign-id.ts";
import type { Settings } from "./config/read.ts";
import { findProject, workingTrees } from "./find.ts";

// The anchor is the context file of one run. It stays after a crash and is archived after a clean end.

export interface AnchorSettings {
  /** A folder inside the project. */
  dir: string;
  /** The file extension, without the dot. */
  ext: string;
}

const DEFAULTS: AnchorSettings = { dir: ".ai", ext: "md" };

/** Chooses the settings: flags win over the project's file, and that over the user's. */
export function anchorSettings(flags: Partial<AnchorSettings>, project: Settings, user: Settings): AnchorSettings {
  const dir = flags.dir ?? project.context?.dir ?? user.context?.dir ?? DEFAULTS.dir;
  const ext = flags.ext ?? project.context?.ext ?? user.context?.ext ?? DEFAULTS.ext;
  checkDir(dir);
  checkExt(ext);
  return { dir, ext };
}

/** Returns the context file of an agent: one per id, or one for the whole project without an id. */
export function anchorFile(root: string, { dir, ext }: AnchorSettings, agentId: string | undefined): string {
  if (!agentId) return join(root, dir, `session-context.${ext}`);
  return join(anchorFolder(root, dir), `${fileNameOf(agentId)}.${ext}`);
}

/**
 * Returns the newest context file that an earlier run of a worker never archived, in whichever working tree that run was: the worker
 * may have got a tree of its own since, or lost it.
 */
export function predecessorContext(earlierRuns: string[], settings: AnchorSettings, cwd: string): string | null {
  if (earlierRuns.length === 0) return null;
  const found = findProject(cwd);
  const trees = [...new Set([found.here, ...workingTrees(found)])];
  const withAnchors = trees.filter((tree) => existsSync(anchorFolder(tree, settings.dir)));
  const files = earlierRuns.flatMap((earlier) => withAnchors.map((tree) => anchorFile(tree, settings, earlier)));
  return files.find((file) => existsSync(file)) ?? null;
}

export function anchorFolder(root: string, dir: string): string {
  return join(root, dir, "session-context.d");
}

export function archiveFolder(root: string, dir: string): string {
  return join(root, dir, "sessions");
}

/** Makes a name such as `2026-11-15-21-07[-id]-description`, in local time, never longer than a file name may be. */
export function archiveName(now: Date, agentId: string | undefined, description: string): string {
  const twoDigits = (number: number): string => String(number).padStart(2, "0");
  const stamp = [now.getFullYear(), now.getMonth() + 1, now.getDate(), now.getHours(), now.getMinutes()]
    .map(twoDigits)
    .join("-");
  return [stamp, ...(agentId ? [fileNameOf(agentId)] : []), slug(description)].join("-");
}

/** Returns the path as a person in that folder would type it. */
export function relativeTo(cwd: string, file: string): string {
  return relative(cwd, file);
}

function slug(description: string): string {
  const ascii = description.normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
  const words = ascii
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return words.slice(0, 80).replace(/-+$/, "") || "session";
}

/** A repository's configuration must not name a folder outside the repository. */
function checkDir(dir: string): void {
  if (dir !== "" && !dir.startsWith("/") && !dir.split("/").includes("..") && !dir.includes("\0")) return;
  throw new PerdureError("usage", `The context folder ${JSON.stringify(dir)} is not inside the project.`, {
    hint: 'use a relative path without "..", such as .ai',
  });
}

function checkExt(ext: string): void {
  if (/^[A-Za-z0-9]{1,16}$/.test(ext)) return;
  throw new PerdureError("usage", `${JSON.stringify(ext)} is not a file extension.`, {
    hint: "use letters and digits, such as md or org",
  });
}
