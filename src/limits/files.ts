import { KIB, MIB } from "./units.ts";

// The bounds of reading files that are not ours: any of them may be a link to something without an end.

/** Bytes asked for at a time: nearly every such file is read whole by the first question. */
export const READ_CHUNK_BYTES = 64 * KIB;

/** Bytes asked for when the end of a file is expected: few, because the daemon reads small files every second. */
export const END_READ_BYTES = KIB;

/** Bytes of git's own small files, of which only the repository's configuration has more than a line. Git's bound for `.git` is the same. */
export const GIT_FILE_BYTES_MAX = MIB;

/** Bytes of a vendor's settings, or of its note on a live process: people's have a few thousand. */
export const VENDOR_FILE_BYTES_MAX = 4 * MIB;

/** Bytes of a program's package.json; the longest in use have a tenth of it. */
export const PACKAGE_FILE_BYTES_MAX = MIB;
