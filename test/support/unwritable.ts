import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const IS_ROOT = process.getuid?.() === 0;

/** How the system says that something which `lock` has locked cannot be written. */
export const LOCKED_WHY = IS_ROOT ? "operation not permitted" : "permission denied";

/**
 * Keeps this user from writing a file or a folder, until the returned function is called: by its mode, or, for root, who may write
 * whatever the mode is, by its immutable flag.
 */
export function lock(path: string): () => void {
  run(lockCommand(path));
  return () => unlock(path);
}

/** Returns the command that locks, for a shell script. */
export function lockCommand(path: string): string[] {
  return IS_ROOT ? ["chattr", "+i", path] : ["chmod", "a-w", path];
}

export function unlock(path: string): void {
  run(IS_ROOT ? ["chattr", "-i", path] : ["chmod", "u+w", path]);
}

/** Tells why nothing can be locked here; null if it can. */
export function cannotLock(): string | null {
  const dir = mkdtempSync(join(tmpdir(), "perdure-lock-"));
  try {
    lock(dir)();
    return null;
  } catch (error) {
    return `root writes whatever the mode is, and nothing can be made immutable here: ${String(error)}`;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function run([program = "", ...args]: string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
}
