import { lstatSync, realpathSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { SETTINGS_MERGE_TRIES, SETTINGS_WRITE_MS, VENDOR_FILE_BYTES_MAX } from "../../limits/index.ts";
import { PerdureError } from "../../protocol/errors.ts";
import { readBounded } from "../../state/bounded-read.ts";
import { writeFileAtomic } from "../../state/files.ts";
import type { MergedSettings } from "../adapter.ts";
import { entryNames } from "../shared/find-file.ts";
import { OVERLAY_SETTINGS, parsedSettings, settingsFile, WRITTEN_SETTINGS } from "./overlay.ts";
import { changesAsSettings, changesBetween, withChanges, type SettingsChange } from "./settings-changes.ts";

// Gemini saves what its user changes in the settings of the overlay, which go with the run. The user has ordered the change, for the
// settings that are theirs: so it is made there, by nobody else's rules than gemini's own.

/** Puts what was changed inside gemini into the user's own settings; null when nothing was. */
export function mergeSavedSettings(runDir: string, home: string): MergedSettings | null {
  const copy = join(runDir, OVERLAY_SETTINGS);
  const written = join(runDir, WRITTEN_SETTINGS);
  const [before, now] = [written, copy].map((file) => readBounded(file, VENDOR_FILE_BYTES_MAX));
  // The run of an older perdure has no second copy, and one that is being prepared has neither.
  if (typeof before !== "string" || typeof now !== "string" || before === now) return null;
  // Gemini empties the file before it writes it. Nothing in it would read as: everything was removed; nothing in the other, which a
  // start is writing, as: everything of ours was chosen by the user.
  if (now.trim() === "" || before.trim() === "") return null;
  if (!now.startsWith("{")) throw new PerdureError("usage", `${copy} cannot be read: it has no settings in it.`);
  const changes = changesBetween(parsedSettings(written, before), parsedSettings(copy, now), runDir);
  const file = settingsFile(home);
  const settings = changes.map(({ path }) => path.join("."));
  const beside = `${file}${BESIDE}${basename(runDir)}`;
  const problem = changes.length === 0 ? null : problemWith(() => mergeInto(file, changes));
  if (problem === null) {
    writeFileAtomic(written, now);
    rmSync(beside, { force: true });
    return changes.length === 0 ? null : { file, settings, kept: null };
  }
  const isBeside = problemWith(() => writeFileAtomic(beside, changesAsSettings(changes))) === null;
  return { file, settings, kept: { problem, file: isBeside ? beside : copy } };
}

/** Returns the files beside the user's settings in which changes were left. */
export function settingsLeftBeside(home: string): string[] {
  const file = settingsFile(home);
  const names = entryNames(dirname(file)).filter((name) => name.startsWith(`${basename(file)}${BESIDE}`));
  return names.map((name) => join(dirname(file), name));
}

const BESIDE = ".perdure-";

/** Changes the user's file, or the one that a link in its place leads to, by rename; a file that changes meanwhile is read anew. */
function mergeInto(file: string, changes: readonly SettingsChange[]): void {
  for (let tries = SETTINGS_MERGE_TRIES; ; tries--) {
    const text = readBounded(file, VENDOR_FILE_BYTES_MAX);
    if (text?.trim() === "" && isFresh(file)) {
      throw new PerdureError("unavailable", `${file} is empty: another program may be writing it.`);
    }
    parsedSettings(file, text ?? "");
    const changed = withChanges(text ?? "", changes);
    if (changed === text) return;
    parsedSettings(file, changed);
    const target = text === null ? placeOfNew(file) : realpathSync(file);
    if (readBounded(file, VENDOR_FILE_BYTES_MAX) !== text) {
      if (tries > 0) continue;
      throw new PerdureError("unavailable", `${file} is being changed by another program.`);
    }
    return writeFileAtomic(target, changed, text === null ? undefined : statSync(target).mode & 0o777);
  }
}

/** Tells whether a file was written to a moment ago. */
function isFresh(file: string): boolean {
  return Math.abs(Date.now() - statSync(file).mtimeMs) < SETTINGS_WRITE_MS;
}

/** Returns where a file that is not there is made; throws for a link that leads nowhere, which somebody else has put there. */
function placeOfNew(file: string): string {
  const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (isLink) throw new PerdureError("usage", `${file} is a link to a file that does not exist.`);
  return file;
}

function problemWith(act: () => void): string | null {
  try {
    act();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
