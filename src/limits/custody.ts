import { DAY_MS, GIB, KIB, MIB, SECOND_MS } from "./units.ts";

// The bounds of the copies that perdure keeps of conversations.

/** How often a conversation is copied while its agent works: a crash of the whole machine can cost this much of the copy. */
export const CUSTODY_BUSY_MS = 2 * SECOND_MS;

/** How long the end of a run waits for the last copy of its conversation: whoever learns of the end may delete the transcript. */
export const END_COPY_WAIT_MS = SECOND_MS / 2;

/** Largest transcript that is copied; the daemon's log names a larger one. */
export const CUSTODY_TRANSCRIPT_BYTES_MAX = 512 * MIB;

/** Bytes of all copies; beyond it the oldest are removed that are neither a worker's current conversation nor saved. */
export const CUSTODY_BYTES_MAX = 4 * GIB;

/** How long the copy of a conversation is kept after the last worker has left it. */
export const CUSTODY_KEPT_MS = 90 * DAY_MS;

/** Bytes read and hashed at a time: the daemon answers other calls in between. */
export const CUSTODY_CHUNK_BYTES = MIB;

/** Bytes at the end of a copy that are compared with the vendor's file before more is appended. */
export const CUSTODY_SEAM_BYTES = 4 * KIB;

/** Later files of one conversation that are copied: each is a time that its user went back in it. */
export const CUSTODY_LATER_FILES_MAX = 1_000;
