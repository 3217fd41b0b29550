import { DAY_MS, GIB, KIB, MIB, SECOND_MS } from "./units.ts";

// The bounds of the copies that perdure keeps of conversations.

/** How often a conversation is copied while its agent works: what a crash of everything at once can cost. */
export const CUSTODY_BUSY_MS = 2 * SECOND_MS;

/** A transcript larger than this is not copied, and one is told. */
export const CUSTODY_TRANSCRIPT_BYTES_MAX = 512 * MIB;

/** All copies together; beyond it the oldest go that are no worker's current conversation and in no saved session. */
export const CUSTODY_BYTES_MAX = 4 * GIB;

/** How long the copy of a conversation is kept that no worker is in any more. */
export const CUSTODY_KEPT_MS = 90 * DAY_MS;

/** Bytes read and hashed at a time: the daemon answers others in between. */
export const CUSTODY_CHUNK_BYTES = MIB;

/** The end of a copy that is compared with the vendor's file before more is appended. */
export const CUSTODY_SEAM_BYTES = 4 * KIB;
