import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isErrno } from "../../src/state/files.ts";

const CHUNKS_BYTES = [64 * 1024, 4096, 1];
const BALLAST = "ballast";

/** Tells why no small disk can be mounted here; null if one can. */
export function cannotMount(): string | null {
  return process.getuid?.() === 0 ? null : "a small disk can only be mounted by root";
}

/** A disk of its own at a folder, which can be filled and emptied. */
export class SmallDisk {
  readonly #folder: string;

  constructor(folder: string, size = "64m") {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    run("mount", "-t", "tmpfs", "-o", `size=${size},mode=0700`, "tmpfs", folder);
  }

  /** Fills the disk to the last byte, once more if something on it has become smaller. */
  fill(): void {
    const fd = openSync(join(this.#folder, BALLAST), "a");
    for (const bytes of CHUNKS_BYTES) {
      try {
        for (;;) writeSync(fd, Buffer.alloc(bytes, 0x78));
      } catch (error) {
        if (!isErrno(error, "ENOSPC")) throw error;
      }
    }
    closeSync(fd);
  }

  empty(): void {
    rmSync(join(this.#folder, BALLAST), { force: true });
  }

  unmount(): void {
    run("umount", "-l", this.#folder);
  }
}

function run(program: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
}
