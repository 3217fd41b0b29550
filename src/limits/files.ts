import { KIB, MIB, SECOND_MS } from "./units.ts";

// The bounds of reading files that are not ours: any of them may be a link to something without an end.

/** Bytes asked for at a time: nearly every such file is read whole by the first question. */
export const READ_CHUNK_BYTES = 64 * KIB;

/** Bytes asked for when the end of a file is expected: few, because the daemon reads small files every second. */
export const END_READ_BYTES = KIB;

/** Bytes of git's own small files, of which only the repository's configuration has more than a line. Git's bound for `.git` is the same. */
export const GIT_FILE_BYTES_MAX = MIB;

/** Bytes of a vendor's settings, or of its note on a live process: people's have a few thousand. */
export const VENDOR_FILE_BYTES_MAX = 4 * MIB;

/** Times a user's settings are read anew because somebody wrote them meanwhile: a program saves them once for each change of a person's. */
export const SETTINGS_MERGE_TRIES = 3;

/** How long a program may take from emptying its settings to writing them, on a busy machine; it does both in one breath. */
export const SETTINGS_WRITE_MS = 2 * SECOND_MS;

/** Bytes of a program's package.json; the longest in use have a tenth of it. */
export const PACKAGE_FILE_BYTES_MAX = MIB;

/** Bytes of a file in a run's folder, where the agent can put anything; the longest of ours is the last screen. */
export const RUN_FILE_BYTES_MAX = 8 * MIB;

/** Commits without a parent that a project is known by: most histories have one, few a dozen. */
export const ROOT_COMMITS_MAX = 16;

/** Places it was cloned from that a project is known by: most repositories have one, few a handful. */
export const REMOTES_MAX = 16;

/** How long git may walk a history for them, in the background: a few hundred thousand commits take less. */
export const GIT_WALK_MS = 5 * SECOND_MS;

/** Memory, in KiB, that git may take for an answer: a large repository's indexes fit, and one that leads git to a device ends there. */
export const GIT_MEMORY_KIB = 1024 * KIB;

/** Commits that git is asked for at once: its answer, of up to 73 characters for each, is well within the bound for one. */
export const COMMITS_PER_CHECK = 512;

/** How long git may look up that many commits by their ids while somebody waits: it takes milliseconds. */
export const GIT_CHECK_MS = 3 * SECOND_MS;

/** Characters of an answer of git's, which is a list of ids. */
export const GIT_ANSWER_BYTES_MAX = 64 * KIB;

/** Bytes that are written to find out whether a quota is used up: more than a block, of which some may be left. */
export const QUOTA_PROBE_BYTES = 64 * KIB;
