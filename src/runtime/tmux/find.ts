import { execFileSync } from "node:child_process";
import { TMUX_ANSWER_MS, TMUX_VERSION_MIN } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { findProgram } from "../find-program.ts";

export interface Tmux {
  file: string;
  /** The version as tmux prints it: `3.3a`, `next-3.6`. */
  version: string;
}

/** Finds tmux on this PATH; the error of a missing or old one says how to install it. */
export function findTmux(path: string | undefined): Tmux {
  const found = findProgram("tmux", path, "/");
  if ("missing" in found) {
    throw new PerdureError("unavailable", "tmux is not installed; fleets need it.", {
      hint: `install it: ${installCommand()}`,
      retryable: false,
    });
  }
  const version = versionOf(found.file);
  if (isOlder(version, TMUX_VERSION_MIN)) {
    throw new PerdureError("unavailable", `${found.file} is tmux ${version}; ${TMUX_VERSION_MIN} or newer is needed.`, {
      hint: `install a newer one: ${installCommand()}`,
      retryable: false,
    });
  }
  return { file: found.file, version };
}

function versionOf(file: string): string {
  try {
    const output = execFileSync(file, ["-V"], {
      encoding: "utf8",
      timeout: TMUX_ANSWER_MS,
      stdio: ["ignore", "pipe", "pipe"],
    });
    return output.replace(/^tmux\s+/, "").trim();
  } catch (cause) {
    throw new PerdureError(
      "unavailable",
      `${file} -V failed: ${cause instanceof Error ? cause.message : String(cause)}`,
      {
        hint: `try it by hand; if that fails, reinstall it: ${installCommand()}`,
        retryable: false,
        cause,
      },
    );
  }
}

/** Compares versions; one without a number of its own (`master`, `openbsd-7.5`) is a custom build and counts as new. */
export function isOlder(version: string, than: string): boolean {
  if (/^[a-z]+bsd/i.test(version)) return false;
  const [major, minor] = numbers(version);
  const [minMajor, minMinor] = numbers(than);
  if (major === null || minMajor === null) return false;
  return major < minMajor || (major === minMajor && (minor ?? 0) < (minMinor ?? 0));
}

function numbers(version: string): [number | null, number | null] {
  const found = /(\d+)(?:\.(\d+))?/.exec(version);
  return [found?.[1] === undefined ? null : Number(found[1]), found?.[2] === undefined ? null : Number(found[2])];
}

const INSTALLERS: readonly [program: string, command: string][] = [
  ["brew", "brew install tmux"],
  ["apt-get", "sudo apt-get install tmux"],
  ["dnf", "sudo dnf install tmux"],
  ["pacman", "sudo pacman -S tmux"],
  ["apk", "sudo apk add tmux"],
  ["zypper", "sudo zypper install tmux"],
];

function installCommand(): string {
  const folders = "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/sbin:/usr/sbin";
  const known = INSTALLERS.find(([program]) => "file" in findProgram(program, folders, "/"));
  return known?.[1] ?? "see https://github.com/tmux/tmux/wiki/Installing";
}
